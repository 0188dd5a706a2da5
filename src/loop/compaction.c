/* compaction.c - making smaller what a model sees: when it nears its window, when a provider says that it does not fit,
   and when the host asks for it.

   A view that nears the window is compacted as planned (history/compact.h), before the request is made. What a provider
   has refused is, too; where that gains too little, the oldest part is cut off as well. The rewrites are the run's own:
   they are appended while it goes on. */
#include "loop/loop_in.h"
#include "history/compact_in.h"

enum {
    PHI__COMPACTIONS_MOST = 8,      /* of a turn, whatever they gain */
    PHI__COMPACTIONS_IDLE_MOST = 2, /* those that gain nothing; then it is an error */
    PHI__COMPACTIONS_WORTH =
        4 /* of an overflow: a plan is enough when it takes one part of so many */
};

PHI__FN void phi__compaction_clear(phi__run *run) {
    run->compacting.count = run->compacting.idle = 0;
}

PHI__FN void phi__compaction_forget(phi__agent *agent) { agent->compacted.tokens = 0; }

PHI__FN void phi__compaction_overflow(phi__run *run, const phi_failure *failure) {
    run->compacting.overflow = failure;
}

PHI__FN bool phi__compaction_overflowed(const phi__run *run) {
    return run->compacting.overflow != NULL;
}

/* ---- planning ---- */

/* As the agent was told, with what its model and its prompt say. run: NULL where no prompt matters. */
static phi_compaction_config phi__compaction_config(const phi__agent *agent, const phi__run *run) {
    phi_compaction_config config = agent->desc.compaction;
    if (config.max_context_tokens == 0)
        config.max_context_tokens = agent->desc.model.context_window;
    if (config.system_prompt_tokens == 0 && run != NULL)
        config.system_prompt_tokens = phi__max((size_t)phi__run_overhead_tokens(run), 1);
    return phi__compact_config(&config);
}

static phi_status phi__compaction_plan(const phi__agent *agent, const phi_compaction_config *config,
                                       phi_arena *arena, phi__compacted *out) {
    const phi_view_item *items = NULL;
    size_t count = 0;
    phi_status status = phi_thread_view(agent->thread, NULL, UINT64_MAX, arena, &items, &count);
    return status == PHI_OK
               ? phi__compact_plan(items, count, config, phi__agent_counter(agent), arena, out)
               : status;
}

/* Keeps fewer and fewer recent turns, until what is left is `target` tokens or less. The plan is in the turn's arena;
   none where nothing would be gained. */
static phi_status phi__compaction_make(phi__run *run, phi_compaction_config config,
                                       uint64_t target) {
    phi__compacted *plan = (phi__compacted *)phi__arena_zero(&run->arena, sizeof *plan);
    phi_status status = PHI_OK;
    if (plan == NULL) return PHI_NO_MEMORY;
    for (;;) {
        status = phi__compaction_plan(run->agent, &config, &run->arena, plan);
        if (status != PHI_OK || plan->tokens_after <= target || config.keep_recent_turns <= 1)
            break;
        config.keep_recent_turns /= 2;
    }
    run->compacting.plan = status == PHI_OK && plan->rewrite.span_count > 0 ? plan : NULL;
    return status;
}

PHI__FN phi_status phi__compaction_gains(const phi__agent *agent, bool *gains) {
    phi_compaction_config config = phi__compaction_config(agent, NULL);
    phi__compacted plan;
    phi_arena scratch;
    phi_status status;
    phi_arena_init(&scratch, (phi_memory *)(uintptr_t)&agent->memory, 0);
    status = phi__compaction_plan(agent, &config, &scratch, &plan);
    *gains = status == PHI_OK && plan.rewrite.span_count > 0;
    phi_arena_free(&scratch);
    return status;
}

PHI__FN phi_status phi__compaction_now(phi__agent *agent, uint64_t summary_tokens, bool *did) {
    phi_compaction_config config = phi__compaction_config(agent, NULL);
    phi__compacted plan;
    phi_arena scratch;
    phi_status status;
    if (config.max_summary_tokens > summary_tokens) config.max_summary_tokens = summary_tokens;
    phi_arena_init(&scratch, &agent->memory, 0);
    status = phi__compaction_plan(agent, &config, &scratch, &plan);
    *did = status == PHI_OK && plan.rewrite.span_count > 0;
    if (*did)
        status =
            phi__thread_rewrite(agent->thread, &plan.rewrite, phi__str("", 0), 0, NULL, NULL, 0);
    *did = *did && status == PHI_OK;
    phi_arena_free(&scratch);
    return status;
}

/* ---- when ---- */

/* What was compacted lately and is too large still would be compacted at each turn, for nothing. */
static bool phi__compaction_futile(phi__agent *agent, const phi_compaction_config *config) {
    double step = config->budget_threshold_pct * (double)config->max_context_tokens;
    uint64_t tokens = phi__agent_tokens(agent);
    if (tokens < agent->compacted.tokens) agent->compacted.tokens = 0; /* another history */
    return agent->compacted.tokens != 0 && (double)(tokens - agent->compacted.tokens) < step;
}

/* Our own plan, where the host has none. */
static phi__state phi__compaction_fit(phi__run *run, const phi_compaction_config *config,
                                      uint64_t target) {
    phi__agent *agent = run->agent;
    if (phi__compaction_make(run, *config, target) != PHI_OK) return PHI__RUN_LOST;
    if (run->compacting.plan != NULL) return PHI__RUN_COMPACT;
    agent->compacted.tokens = phi__agent_tokens(agent);
    phi__run_rewind(run);
    return PHI__RUN_TRANSFORM;
}

PHI__FN phi__state phi__run_fit(phi__run *run) {
    phi__agent *agent = run->agent;
    phi_compaction_config config = phi__compaction_config(agent, run), full = config;
    uint64_t most = phi__compact_threshold(&config), target, now;
    bool due;
    full.budget_threshold_pct = 0; /* no headroom at all */
    run->compacting.plan = NULL;
    run->compacting.overflow = NULL;
    due = !phi__compaction_futile(agent, &config);
    if (config.disable || agent->thread->fold.count == 0) return PHI__RUN_TRANSFORM;
    now = phi__run_context_tokens(run);
    due = due && now > most;
    if (!due && agent->compacted.job == NULL) return PHI__RUN_TRANSFORM;
    /* what the provider counts may be more or less than the estimate that a plan goes by */
    target = (uint64_t)((double)most * ((double)phi__agent_tokens(agent) / (double)now));
    switch (phi__compactor_ask(run, &config, target, due, &run->compacting.plan)) {
    case PHI_OK: return PHI__RUN_COMPACT;
    case PHI_STALE: return PHI__RUN_OVER;
    case PHI_NO_MEMORY: return PHI__RUN_LOST;
    case PHI_BUSY:
        if (now <= phi__compact_threshold(&full)) return PHI__RUN_TRANSFORM;
        break;
    default: break;
    }
    return due ? phi__compaction_fit(run, &config, target) : PHI__RUN_TRANSFORM;
}

PHI__FN phi__state phi__run_shrink(phi__run *run) {
    phi_compaction_config config = phi__compaction_config(run->agent, run);
    if (phi__compaction_make(run, config, UINT64_MAX) != PHI_OK) return PHI__RUN_LOST;
    return run->compacting.plan != NULL ? PHI__RUN_COMPACT : PHI__RUN_CLOSE;
}

/* ---- what follows it ---- */

static phi__state phi__compaction_next(const phi__run *run) {
    return run->compact_only ? PHI__RUN_CLOSE : PHI__RUN_TRANSFORM;
}

/* The host says no, or there have been enough. */
static phi__state phi__compaction_refused(phi__run *run) {
    run->compacting.plan = NULL;
    if (run->compacting.overflow == NULL) return phi__compaction_next(run);
    return phi__attempt_refuse(run, run->compacting.overflow);
}

static bool phi__compaction_tell(phi__run *run, phi_event_kind kind) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.compaction = run->compacting.told;
    return phi__emit(run->agent, &event, NULL, 0);
}

/* What is known before: also what the hook is told. */
static bool phi__compaction_measure(phi__run *run) {
    phi_thread *thread = run->agent->thread;
    if (run->compacting.told == NULL)
        run->compacting.told = (phi_compaction *)phi__arena_zero(phi__thread_room(thread),
                                                                 sizeof *run->compacting.told);
    if (run->compacting.told == NULL) return false;
    run->compacting.told->estimated_tokens = run->compacting.told->tokens_before =
        phi__agent_tokens(run->agent);
    run->compacting.told->message_count = run->compacting.told->messages_before =
        thread->fold.count;
    return true;
}

/* ---- doing it ---- */

/* Half of it goes, or, where that took nothing away, all that may go. */
static bool phi__compaction_cut(phi__run *run, uint64_t before) {
    phi_thread *thread = run->agent->thread;
    uint64_t target = run->compacting.idle == 0 ? before / 2 : 0;
    size_t removed = 0;
    bool planned = phi__agent_tokens(run->agent) < before;
    if (!phi__thread_truncate(thread, target, phi__agent_counter(run->agent), run->loop_id,
                              run->turn.index, &removed))
        return false;
    if (removed == 0 && !planned) run->compacting.idle++;
    return true;
}

/* The host's plan may not be valid, or not any more: then ours is made. */
static phi_status phi__compaction_rewrite(phi__run *run) {
    phi_thread *thread = run->agent->thread;
    phi_status status = phi__thread_rewrite(thread, &run->compacting.plan->rewrite, run->loop_id,
                                            run->turn.index, NULL, NULL, 0);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status;
    status = phi__compaction_make(run, phi__compaction_config(run->agent, run), UINT64_MAX);
    if (status != PHI_OK || run->compacting.plan == NULL) return status;
    return phi__thread_rewrite(thread, &run->compacting.plan->rewrite, run->loop_id,
                               run->turn.index, NULL, NULL, 0);
}

static bool phi__compaction_apply(phi__run *run) {
    phi_status status;
    if (run->compacting.plan == NULL) return true;
    status = phi__compaction_rewrite(run);
    PHI_ASSERT(status == PHI_OK || status == PHI_NO_MEMORY);
    if (status == PHI_OK && run->compacting.plan != NULL)
        run->compacting.told->loops_compacted = run->compacting.plan->runs;
    run->compacting.plan = NULL;
    return status == PHI_OK;
}

static bool phi__compaction_shrink(phi__run *run) {
    uint64_t before = phi__agent_tokens(run->agent), now;
    if (!phi__compaction_apply(run)) return false;
    now = phi__agent_tokens(run->agent);
    if (run->compacting.overflow == NULL ||
        (now < before && before - now > before / PHI__COMPACTIONS_WORTH))
        return true;
    return phi__compaction_cut(run, before);
}

static phi__state phi__compaction_do(phi__run *run) {
    phi__agent *agent = run->agent;
    phi_compaction *c = run->compacting.told;
    phi__compactor_forget(agent); /* what it is at would not fit any more */
    if (run->compacting.overflow != NULL && !agent->desc.compaction.disable &&
        run->compacting.idle == 0 &&
        phi__compaction_make(run, phi__compaction_config(agent, run), UINT64_MAX) != PHI_OK)
        return PHI__RUN_LOST;
    if (!phi__compaction_tell(run, PHI_EV_COMPACTION_START) || !phi__compaction_shrink(run))
        return PHI__RUN_LOST;
    c->messages_after = agent->thread->fold.count;
    c->tokens_after = agent->compacted.tokens = phi__agent_tokens(agent);
    run->compacting.count++;
    phi__shown_clear(run);
    if (!phi__compaction_tell(run, PHI_EV_COMPACTION_END)) return PHI__RUN_LOST;
    return PHI__RUN_COMPACTED;
}

/* ---- states ---- */

PHI__FN phi__state phi__run_compact(phi__run *run, bool *wait) {
    phi_hook hook = phi__hook_of(run, PHI_HOOK_BEFORE_COMPACTION);
    phi__hooked hooked;
    if (run->end.cancelled) {
        phi__decision_drop(&run->decision);
        return PHI__RUN_TURN_END;
    }
    if (run->compacting.count >= PHI__COMPACTIONS_MOST ||
        run->compacting.idle >= PHI__COMPACTIONS_IDLE_MOST)
        return phi__compaction_refused(run);
    if (!phi__compaction_measure(run)) return PHI__RUN_LOST;
    hook.compaction = run->compacting.told;
    hooked = phi__hook_run(run, &hook);
    if (hooked == PHI__HOOK_DENY) return phi__compaction_refused(run);
    if (hooked == PHI__HOOK_ALLOW || hooked == PHI__HOOK_WARN) return phi__compaction_do(run);
    return phi__run_hooked(run, hooked, PHI__RUN_COMPACT, PHI__RUN_COMPACT, PHI__RUN_TURN_END,
                           wait);
}

PHI__FN phi__state phi__run_compacted(phi__run *run, bool *wait) {
    phi_hook hook = phi__hook_of(run, PHI_HOOK_AFTER_COMPACTION);
    bool gained = run->compacting.told->tokens_after < run->compacting.told->tokens_before;
    phi__state next =
        gained || run->compacting.overflow == NULL ? phi__compaction_next(run) : PHI__RUN_COMPACT;
    hook.compaction = run->compacting.told;
    next = phi__run_hooked(run, phi__hook_run(run, &hook), PHI__RUN_COMPACTED, next, next, wait);
    if (next == PHI__RUN_COMPACTED || next == PHI__RUN_OVER) return next;
    run->compacting.told = NULL; /* its events may still be read */
    phi__context_clear(run);
    if (next == PHI__RUN_TRANSFORM) {
        run->compacting.idle = 0;
        phi__run_rewind(run);
    }
    return next;
}
