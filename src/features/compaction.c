/* compaction.c - compacts the view: near the window, after a provider's refusal, and at the host's
   request.

   A view that nears the window is compacted by a plan (log/compact.h) before the request is made. A
   view that a provider has refused is also compacted. If that saves too little, the oldest part is
   cut off as well. These rewrites belong to the run: they are appended during the run. */
#include "features/features_in.h"

/* ---- the host's compactor: starts and polls its job, and applies the result ---- */

typedef struct phi__compactor_job {
    phi_arena arena; /* memory of the host's request */
    phi_compaction_request request;
    phi_compactor by; /* a copy, since the agent's compactor may change meanwhile */
    void *job;
    bool started;
    uint64_t base_seq;
    uint32_t lane;
} phi__compactor_job;

/* Ends a job that is no longer needed. May call the host. */
static void phi__compactor_forget(phi__agent *agent, phi__compactor_job **at) {
    phi__compactor_job *job = *at;
    if (job == NULL) return;
    *at = NULL;
    if (job->started) job->by.end(job->by.user_data, job->job);
    phi_arena_free(&job->arena);
    phi__free(&agent->rt->memory, job, sizeof *job);
}

/* Fills in the job's request with copies of the view and of the settings' strings, because the
   originals may be replaced while the job is active. */
static bool phi__compactor_request(phi__agent *agent, phi__compactor_job *job,
                                   const phi_compaction_config *config) {
    phi_compaction_request *request = &job->request;
    const phi_view_item *items = NULL;
    size_t count = 0;
    phi_str focus = PHI__LIT("");
    request->config = *config;
    if (config->texts != NULL) {
        request->config.texts = phi__texts_copy(config->texts, &job->arena);
        if (request->config.texts == NULL) return false;
    }
    if (config->focus_message != NULL) {
        if (!phi__arena_str(&job->arena, phi_str_of(config->focus_message), &focus)) return false;
        request->config.focus_message = focus.at;
    }
    if (phi_thread_view(agent->thread, NULL, UINT64_MAX, &job->arena, &items, &count) != PHI_OK)
        return false;
    phi_view_item *copies =
        (phi_view_item *)phi_arena_alloc(&job->arena, phi__mul(phi__max(count, 1), sizeof *copies));
    for (size_t i = 0; copies != NULL && i < count; i++) {
        copies[i] = items[i];
        copies[i].message = phi_message_copy(items[i].message, &job->arena);
        if (copies[i].message == NULL) return false;
    }
    request->items = copies;
    request->item_count = count;
    return copies != NULL;
}

/* Begins a job. Its memory is taken from the runtime, because the agent's memory is for answers.
   False: the host does not want the job, or there is no memory. */
static bool phi__compactor_begin(phi__agent *agent, phi__compactor_job **at,
                                 const phi_compaction_config *config, uint64_t target,
                                 bool at_memory_limit) {
    phi_memory *memory = &agent->rt->memory;
    phi__compactor_job *job = (phi__compactor_job *)phi__alloc(memory, sizeof *job);
    if (job == NULL) return false;
    phi_arena_init(&job->arena, memory, 0);
    job->by = agent->desc.compactor;
    job->request.agent = agent->handle;
    job->request.target_tokens = target;
    job->request.at_memory_limit = at_memory_limit;
    job->lane = agent->thread->lanes.active;
    job->base_seq = agent->thread->log.count - 1;
    *at = job;
    if (phi__compactor_request(agent, job, config))
        job->started = job->by.start(job->by.user_data, &job->request, &job->job) == PHI_OK;
    if (job->started) return true;
    phi__compactor_forget(agent, at);
    return false;
}

/* True if an item is in a span, searching from *span on. Items and spans must be in ascending
   order; spans in another order are refused later. */
static bool phi__weigh_in(const phi_rewrite *rewrite, size_t *span, const phi__item *item) {
    while (*span < rewrite->span_count && rewrite->spans[*span].to < item->from) ++*span;
    return *span < rewrite->span_count && item->from >= rewrite->spans[*span].from;
}

/* True if the view after the rewrite would still have a message for the model. */
static bool phi__compactor_any_visible(const phi__fold *fold, const phi_rewrite *r) {
    size_t span = 0;
    for (size_t i = 0; i < r->span_count; i++)
        for (size_t j = 0; j < r->spans[i].message_count; j++)
            if (r->spans[i].messages[j].role != PHI_ROLE_EXTENSION) return true;
    for (size_t i = 0; i < fold->count; i++) {
        const phi__item *item = &fold->items[i];
        if (item->message->role == PHI_ROLE_EXTENSION) continue;
        if (!phi__weigh_in(r, &span, item) || (item->flags & PHI_ENTRY_DURABLE) != 0) return true;
    }
    return false;
}

/* Estimates the tokens after plan->rewrite, and counts the runs that lose messages. */
static void phi__weigh_rewrite(const phi__agent *agent, phi__compacted *plan) {
    const phi_token_counter *counter = phi__projection_counter(agent);
    const phi__fold *fold = &agent->thread->fold;
    const phi_rewrite *r = &plan->rewrite;
    const phi_message *last = NULL;
    size_t j, span = 0;
    plan->tokens_before = plan->tokens_after = phi__projection_view_tokens(agent);
    for (size_t i = 0; i < fold->count; i++) {
        const phi__item *item = &fold->items[i];
        if (!phi__weigh_in(r, &span, item) || (item->flags & PHI_ENTRY_DURABLE) != 0) continue;
        plan->tokens_after -= phi_tokens_of_message(counter, item->message);
        if (last == NULL || !phi_str_equal(last->loop_id, item->message->loop_id)) plan->runs++;
        last = item->message;
    }
    for (size_t i = 0; i < r->span_count; i++)
        for (j = 0; j < r->spans[i].message_count; j++)
            plan->tokens_after += phi_tokens_of_message(counter, &r->spans[i].messages[j]);
}

static phi_status phi__compactor_take(phi__agent *agent, phi_arena *arena,
                                      const phi__compactor_job *job, const phi_rewrite *made,
                                      struct phi__compacted **out) {
    const phi__fold *fold = &agent->thread->fold;
    phi__compacted *plan = (phi__compacted *)phi__arena_zero(arena, sizeof *plan);
    phi_rewrite rewrite = PHI_ZERO;
    rewrite.reason = PHI_REWRITE_COMPACTION;
    rewrite.has_base = true;
    rewrite.base_seq = job->base_seq;
    rewrite.spans = made->spans;
    rewrite.span_count = made->spans != NULL ? made->span_count : 0;
    rewrite.meta = made->meta;
    rewrite.written = made->written;
    if (rewrite.span_count == 0) return PHI_NOT_FOUND;
    /* Only checks that the rewrite can be copied. Appending it checks the rest. */
    for (size_t i = 0; i < rewrite.span_count; i++) {
        const phi_span *span = &rewrite.spans[i];
        if (span->message_count > 0 && span->messages == NULL) return PHI_NOT_FOUND;
        for (size_t j = 0; j < span->message_count; j++)
            if (span->messages[j].content == NULL) return PHI_NOT_FOUND;
    }
    if (plan == NULL || !phi__rewrite_copy(arena, &rewrite, &plan->rewrite)) return PHI_NO_MEMORY;
    /* The copied messages of a span get the run and turn of its first entry. */
    for (size_t i = 0, at = 0; i < plan->rewrite.span_count; i++) {
        const phi_span *span = &plan->rewrite.spans[i];
        while (at < fold->count && fold->items[at].from < span->from) at++;
        for (size_t j = 0; at < fold->count && j < span->message_count; j++) {
            phi_message *message = (phi_message *)(uintptr_t)&span->messages[j];
            message->loop_id = fold->items[at].message->loop_id;
            message->turn_index = fold->items[at].message->turn_index;
        }
    }
    phi__weigh_rewrite(agent, plan);
    if (!phi__compactor_any_visible(fold, &plan->rewrite)) {
        phi_str words =
            PHI__LIT("The compactor's rewrite is refused: it would leave nothing to be sent");
        return phi__events_warn(agent, words) ? PHI_NOT_FOUND : PHI_NO_MEMORY;
    }
    if (plan->tokens_after >= plan->tokens_before) return PHI_NOT_FOUND;
    *out = plan;
    return PHI_OK;
}

/* Polls a job. PHI_OK: *plan has the rewrite, in the arena. PHI_BUSY: the job is active.
   PHI_NOT_FOUND: the job has no usable result. PHI_STALE: the agent was freed. PHI_NO_MEMORY:
   memory ran out. */
static phi_status phi__compactor_poll(phi__agent *agent, phi__compactor_job **at, phi_arena *arena,
                                      struct phi__compacted **plan) {
    phi_rewrite made = PHI_ZERO;
    phi_status status = (*at)->by.poll((*at)->by.user_data, (*at)->job, &made);
    if (agent->slot == NULL) return PHI_STALE;
    if (status == PHI_BUSY) return PHI_BUSY;
    if (status == PHI_OK && (*at)->lane == agent->thread->lanes.active)
        status = phi__compactor_take(agent, arena, *at, &made, plan);
    else
        status = PHI_NOT_FOUND;
    phi__compactor_forget(agent, at);
    return agent->slot != NULL ? status : PHI_STALE;
}

/* Begins a job for a view of `target` tokens, unless one is active. PHI_OK: a job is active.
   PHI_NOT_FOUND: the host does not want a job. PHI_STALE: the agent was freed. */
static phi_status phi__compactor_start(phi__agent *agent, phi__compactor_job **at,
                                       const phi_compaction_config *config, uint64_t target,
                                       bool at_memory_limit) {
    bool begun = *at != NULL || (agent->desc.compactor.start != NULL &&
                                 phi__compactor_begin(agent, at, config, target, at_memory_limit));
    if (agent->slot == NULL) return PHI_STALE;
    return begun ? PHI_OK : PHI_NOT_FOUND;
}

/* ---- compactions of a run ---- */

enum {
    PHI__COMPACTIONS_MOST = 8, /* compactions of a turn */
    /* compactions in a row that save nothing, before the run fails */
    PHI__COMPACTIONS_IDLE_MOST = 2,
    /* After an overflow a plan must save more than 1/4, or the oldest part is cut off, too. */
    PHI__COMPACTIONS_WORTH = 4
};

/* The feature's state of a run. */
typedef struct phi__compactions {
    uint8_t count, idle; /* compactions of this turn: all, and those that saved nothing */
    /* a compaction was done, and the run is held for the hook AFTER_COMPACTION */
    bool done;
    /* the failure that caused the last compaction, in the thread's memory; NULL: the view's size
       did */
    const phi_failure *overflow;
    phi__compacted *plan;    /* plan for the next compaction, in the turn's arena; or NULL */
    phi_compaction *emitted; /* figures of the active compaction, in the thread's memory */
} phi__compactions;

/* The feature's state of an agent. */
typedef struct phi__compacted_by {
    phi__compactor_job *job; /* the active job of the host's compactor, or NULL */
    uint64_t tokens;         /* estimated tokens after the last compaction; 0: none was done */
    /* the compactor was asked because of the memory limit; reset when the log fits again */
    bool asked;
} phi__compacted_by;

static phi__compactions *phi__compaction_of(const phi__run *run) {
    return (phi__compactions *)phi__feature_run_state(run, phi__compaction_feature);
}

static phi__compacted_by *phi__compaction_by(const phi__agent *agent) {
    return (phi__compacted_by *)phi__feature_agent_state(agent, phi__compaction_feature);
}

/* Holds the run: if done is false, for a compaction; otherwise for the hook after a compaction. */
static phi__state phi__compaction_hold(phi__run *run, bool done) {
    phi__compaction_of(run)->done = done;
    return PHI__RUN_HELD;
}

/* Returns the agent's settings with defaults filled in from its model and prompt. If run is NULL,
   the prompt is not counted. */
static phi_compaction_config phi__compaction_config(const phi__agent *agent, const phi__run *run) {
    phi_compaction_config config = agent->desc.compaction;
    if (config.max_context_tokens == 0)
        config.max_context_tokens = agent->desc.model.context_window;
    if (config.system_prompt_tokens == 0 && run != NULL)
        config.system_prompt_tokens = phi__max((size_t)phi__projection_overhead(run), 1);
    return phi__compact_config(&config);
}

static phi_status phi__compaction_plan(const phi__agent *agent, const phi_compaction_config *config,
                                       phi_arena *arena, phi__compacted *out) {
    const phi_view_item *items = NULL;
    size_t count = 0;
    phi_status status = phi_thread_view(agent->thread, NULL, UINT64_MAX, arena, &items, &count);
    return status == PHI_OK ? phi__compact_plan(items, count, config,
                                                phi__projection_counter(agent), arena, false, out)
                            : status;
}

/* Makes a plan in the turn's arena. Keeps fewer and fewer recent turns until the rest has `target`
   tokens or less. The plan is NULL if it would save nothing. */
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
    phi__compaction_of(run)->plan = status == PHI_OK && plan->rewrite.span_count > 0 ? plan : NULL;
    return status;
}

PHI__FN phi_status phi__compaction_gains(const phi__agent *agent, bool *gains) {
    phi_compaction_config config = phi__compaction_config(agent, NULL);
    phi__compacted plan;
    phi_arena scratch;
    phi_arena_init(&scratch, (phi_memory *)(uintptr_t)&agent->memory, 0);
    phi_status status = phi__compaction_plan(agent, &config, &scratch, &plan);
    *gains = status == PHI_OK && plan.rewrite.span_count > 0;
    phi_arena_free(&scratch);
    return status;
}

/* Compacts the agent's view at once, without hooks and events. A summary has at most
   summary_tokens, or the agent's maximum if that is less. *did is true if the view is smaller
   now. */
static phi_status phi__compaction_now(phi__agent *agent, uint64_t summary_tokens, bool *did) {
    phi_compaction_config config = phi__compaction_config(agent, NULL);
    phi__compacted plan;
    phi_arena scratch;
    if (config.max_summary_tokens > summary_tokens) config.max_summary_tokens = summary_tokens;
    phi_arena_init(&scratch, &agent->memory, 0);
    phi_status status = phi__compaction_plan(agent, &config, &scratch, &plan);
    *did = status == PHI_OK && plan.rewrite.span_count > 0;
    if (*did)
        status = phi__edit_rewrite(agent->thread, &plan.rewrite, phi__str("", 0), 0, NULL, NULL, 0);
    *did = *did && status == PHI_OK;
    phi_arena_free(&scratch);
    return status;
}

/* Applies the result of the compactor's job if the job is done. *did is true if the view is smaller
   now. */
static void phi__compaction_take_made(phi__agent *agent, phi__compacted_by *by, bool *did) {
    phi__compacted *plan = NULL;
    phi_arena scratch;
    if (by->job == NULL) return;
    phi_arena_init(&scratch, &agent->memory, 0);
    *did = phi__compactor_poll(agent, &by->job, &scratch, &plan) == PHI_OK &&
           phi__edit_rewrite(agent->thread, &plan->rewrite, phi__str("", 0), 0, NULL, NULL, 0) ==
               PHI_OK;
    phi_arena_free(&scratch);
}

/* True if the view has hardly grown since the last compaction. Without this check, a view that is
   too large even after a compaction would be compacted again in each turn. */
static bool phi__compaction_futile(const phi__agent *agent, phi__compacted_by *by,
                                   const phi_compaction_config *config) {
    double step = config->budget_threshold_pct * (double)config->max_context_tokens;
    if (by->tokens == 0) return false;
    uint64_t tokens = phi__projection_view_tokens(agent);
    if (tokens < by->tokens) by->tokens = 0; /* the history was replaced */
    return by->tokens != 0 && (double)(tokens - by->tokens) < step;
}

/* Asks the compactor, because of the window or the memory limit, and polls its job. Returns the
   same statuses as phi__compactor_poll. */
static phi_status phi__compaction_ask(phi__run *run, phi__compacted_by *by,
                                      const phi_compaction_config *config, uint64_t target,
                                      bool due) {
    phi__agent *agent = run->agent;
    phi_compaction_config smaller = *config;
    bool pressed = false;
    if (by->job == NULL) {
        size_t room = phi__forget_near(agent);
        if (room == 0) by->asked = false;
        pressed = room > 0 && !by->asked && agent->desc.compactor.start != NULL;
        room /= 2 * PHI__FORGET_SUMMARY;
        if (pressed && smaller.max_summary_tokens > room) smaller.max_summary_tokens = room;
    }
    if (pressed) {
        by->asked = true;
        uint64_t half = phi__projection_view_tokens(agent) / 2;
        if (target > half) target = half;
    }
    if (!due && !pressed && by->job == NULL) return PHI_NOT_FOUND;
    phi_status status = phi__compactor_start(agent, &by->job, &smaller, target, pressed);
    if (status != PHI_OK) return status;
    return phi__compactor_poll(agent, &by->job, &run->arena, &phi__compaction_of(run)->plan);
}

/* Checks at the beginning of a turn if the view must be compacted. Returns the run's next state. */
static phi__state phi__compaction_begun(phi__run *run, phi__compactions *c, phi__compacted_by *by) {
    phi__agent *agent = run->agent;
    phi_compaction_config config = phi__compaction_config(agent, run), full = config;
    uint64_t most = phi__compact_threshold(&config);
    full.budget_threshold_pct = 0; /* `full` has the window without headroom */
    c->plan = NULL;
    c->overflow = NULL;
    bool due = !phi__compaction_futile(agent, by, &config);
    if (config.disable || agent->thread->fold.count == 0) return PHI__RUN_ON;
    uint64_t now = phi__projection_context_tokens(run);
    due = due && now > most;
    /* `now` may come from the provider's count; plans use estimates */
    uint64_t target =
        (uint64_t)((double)most * ((double)phi__projection_view_tokens(agent) / (double)now));
    switch (phi__compaction_ask(run, by, &config, target, due)) {
    case PHI_OK: return phi__compaction_hold(run, false);
    case PHI_STALE: return PHI__RUN_OVER;
    case PHI_NO_MEMORY: return PHI__RUN_LOST;
    case PHI_BUSY:
        if (now <= phi__compact_threshold(&full)) return PHI__RUN_ON;
        break;
    default: break;
    }
    if (!due) return PHI__RUN_ON;
    /* the host has no result, so phi's own plan is used */
    if (phi__compaction_make(run, config, target) != PHI_OK) return PHI__RUN_LOST;
    if (c->plan != NULL) return phi__compaction_hold(run, false);
    by->tokens = phi__projection_view_tokens(agent);
    phi__attempt_rewind(run);
    return PHI__RUN_ON;
}

/* ---- after a compaction ---- */

static phi__state phi__compaction_next(const phi__run *run) {
    return run->no_turns ? PHI__RUN_CLOSE : PHI__RUN_TRANSFORM;
}

/* Called if the host refuses a compaction, or after too many compactions. */
static phi__state phi__compaction_refused(phi__run *run) {
    phi__compactions *c = phi__compaction_of(run);
    c->plan = NULL;
    if (c->overflow == NULL) return phi__compaction_next(run);
    return phi__attempt_refuse(run, c->overflow);
}

static bool phi__compaction_emit(phi__run *run, phi_event_kind kind) {
    phi_event event = PHI_ZERO;
    event.kind = kind;
    event.compaction = phi__compaction_of(run)->emitted;
    return phi__events_emit(run->agent, &event);
}

/* Sets the figures before the compaction. The hook gets these figures, too. */
static bool phi__compaction_measure(phi__run *run) {
    phi__compactions *c = phi__compaction_of(run);
    phi_thread *thread = run->agent->thread;
    if (c->emitted == NULL)
        c->emitted =
            (phi_compaction *)phi__arena_zero(phi__thread_room(thread), sizeof *c->emitted);
    if (c->emitted == NULL) return false;
    c->emitted->estimated_tokens = c->emitted->tokens_before =
        phi__projection_view_tokens(run->agent);
    c->emitted->message_count = c->emitted->messages_before = thread->fold.count;
    return true;
}

static bool phi__compaction_apply(phi__run *run) {
    phi__compactions *c = phi__compaction_of(run);
    if (c->plan == NULL) return true;
    phi_status status = phi__events_rewrite(run, &c->plan->rewrite);
    if (status != PHI_OK && status != PHI_NO_MEMORY) {
        /* The host's rewrite may be invalid or outdated. Then phi's own plan is used. */
        status = phi__compaction_make(run, phi__compaction_config(run->agent, run), UINT64_MAX);
        if (status == PHI_OK && c->plan != NULL)
            status = phi__events_rewrite(run, &c->plan->rewrite);
    }
    PHI_ASSERT(status == PHI_OK || status == PHI_NO_MEMORY);
    if (status == PHI_OK && c->plan != NULL) c->emitted->loops_compacted = c->plan->runs;
    c->plan = NULL;
    return status == PHI_OK;
}

static bool phi__compaction_shrink(phi__run *run) {
    uint64_t before = phi__projection_view_tokens(run->agent);
    if (!phi__compaction_apply(run)) return false;
    uint64_t now = phi__projection_view_tokens(run->agent);
    if (phi__compaction_of(run)->overflow == NULL ||
        (now < before && before - now > before / PHI__COMPACTIONS_WORTH))
        return true;
    /* Cuts off half of the view, or as much as possible if nothing was cut off last time. */
    phi__compactions *c = phi__compaction_of(run);
    uint64_t target = c->idle == 0 ? before / 2 : 0;
    size_t removed = 0;
    bool planned = phi__projection_view_tokens(run->agent) < before;
    if (!phi__truncate(run->agent->thread, target, phi__projection_counter(run->agent),
                       run->agent->desc.texts, run->loop_id, run->turn.index, &removed))
        return false;
    if (removed == 0 && !planned) c->idle++;
    return true;
}

static phi__state phi__compaction_do(phi__run *run) {
    phi__compactions *c = phi__compaction_of(run);
    phi__agent *agent = run->agent;
    phi_compaction *emitted = c->emitted;
    /* ends the job, because its result would not fit the new view */
    phi__compactor_forget(agent, &phi__compaction_by(agent)->job);
    if (c->overflow != NULL && !agent->desc.compaction.disable && c->idle == 0 &&
        phi__compaction_make(run, phi__compaction_config(agent, run), UINT64_MAX) != PHI_OK)
        return PHI__RUN_LOST;
    if (!phi__compaction_emit(run, PHI_EV_COMPACTION_START) || !phi__compaction_shrink(run))
        return PHI__RUN_LOST;
    emitted->messages_after = agent->thread->fold.count;
    emitted->tokens_after = phi__compaction_by(agent)->tokens = phi__projection_view_tokens(agent);
    c->count++;
    phi__projection_clear(run);
    if (!phi__compaction_emit(run, PHI_EV_COMPACTION_END)) return PHI__RUN_LOST;
    return phi__compaction_hold(run, true);
}

/* ---- states ---- */

static phi__state phi__compaction_before(phi__run *run, bool *wait) {
    phi__compactions *c = phi__compaction_of(run);
    phi_hook hook = phi__hooks_make(run, PHI_HOOK_BEFORE_COMPACTION);
    if (run->end.cancelled) {
        phi__decision_drop(&run->decision);
        return PHI__RUN_TURN_END;
    }
    if (c->count >= PHI__COMPACTIONS_MOST || c->idle >= PHI__COMPACTIONS_IDLE_MOST)
        return phi__compaction_refused(run);
    if (!phi__compaction_measure(run)) return PHI__RUN_LOST;
    hook.compaction = c->emitted;
    phi__hooked hooked = phi__hooks_run(run, &hook);
    if (hooked == PHI__HOOK_DENY) return phi__compaction_refused(run);
    if (hooked == PHI__HOOK_ALLOW || hooked == PHI__HOOK_WARN) return phi__compaction_do(run);
    return phi__hooks_next(run, hooked, PHI__RUN_HELD, PHI__RUN_HELD, PHI__RUN_TURN_END, wait);
}

static phi__state phi__compaction_after(phi__run *run, bool *wait) {
    phi__compactions *c = phi__compaction_of(run);
    phi_hook hook = phi__hooks_make(run, PHI_HOOK_AFTER_COMPACTION);
    bool gained = c->emitted->tokens_after < c->emitted->tokens_before;
    hook.compaction = c->emitted;
    phi__state next = phi__hooks_next(run, phi__hooks_run(run, &hook), PHI__RUN_HELD, PHI__RUN_ON,
                                      PHI__RUN_ON, wait);
    if (next == PHI__RUN_HELD || next == PHI__RUN_OVER) return next;
    if (next == PHI__RUN_ON)
        next = gained || c->overflow == NULL ? phi__compaction_next(run)
                                             : phi__compaction_hold(run, false);
    c->emitted = NULL; /* popped events may still point to the old figures */
    run->listed.messages = NULL;
    if (next == PHI__RUN_TRANSFORM) {
        c->idle = 0;
        phi__attempt_rewind(run);
    }
    return next;
}

PHI__FN void phi__compaction_forget(phi__agent *agent) {
    phi__compactor_forget(agent, &phi__compaction_by(agent)->job);
}

static phi__state phi__compaction_at_run(const phi__moment *moment) {
    phi__run *run = moment->run;
    phi__compactions *c = (phi__compactions *)moment->run_state;
    switch (moment->point) {
    case PHI__POINT_TURN_BEGUN:
        c->count = c->idle = 0;
        return phi__compaction_begun(run, c, (phi__compacted_by *)moment->agent_state);
    case PHI__POINT_ERRAND: { /* a run of phi_compact */
        phi_compaction_config config = phi__compaction_config(run->agent, run);
        if (phi__compaction_make(run, config, UINT64_MAX) != PHI_OK) return PHI__RUN_LOST;
        return c->plan != NULL ? phi__compaction_hold(run, false) : PHI__RUN_CLOSE;
    }
    case PHI__POINT_FAILED:
        if (moment->whole) break;
        c->overflow = moment->failure;
        return phi__compaction_hold(run, false);
    case PHI__POINT_HELD:
        return c->done ? phi__compaction_after(run, moment->wait)
                       : phi__compaction_before(run, moment->wait);
    case PHI__POINT_HELD_AS: /* a compaction that was not done is planned again */
        if (c->done) return phi__compaction_next(run);
        if (run->no_turns) return PHI__RUN_OPEN;
        return c->overflow == NULL ? PHI__RUN_TURN : PHI__RUN_TRANSFORM;
    default: break;
    }
    return PHI__RUN_ON;
}

static phi__state phi__compaction_take(phi__moment *moment) {
    phi__agent *agent = moment->agent;
    phi__compacted_by *by = (phi__compacted_by *)moment->agent_state;
    switch (moment->point) {
    case PHI__POINT_RUN_ENDS: /* PHI_KEEP_NONE also removes the run's rewrites */
        if (moment->run->status != PHI_OK && moment->run->status != PHI_LIMIT &&
            agent->desc.keep == PHI_KEEP_NONE)
            by->tokens = 0;
        break;
    case PHI__POINT_LOG_RENEWED:
        if (moment->did) by->tokens = 0;
        by->asked = false;
        break;
    case PHI__POINT_SHRINK:
        if (moment->whole)
            phi__compaction_take_made(agent, by, &moment->did);
        else
            (void)phi__compaction_now(agent, moment->tokens, &moment->did);
        break;
    case PHI__POINT_LOG_LEAVES:
    case PHI__POINT_AGENT_FREED: phi__compactor_forget(agent, &by->job); break;
    case PHI__POINT_AGENT_SAVE:
        phi__json_write_key(moment->out, PHI__LIT("compacted_tokens"));
        phi__json_number_put_u64(moment->out, by->tokens);
        break;
    case PHI__POINT_AGENT_LOAD:
        by->tokens = phi__json_get_uint(phi_json_get(moment->json, "compacted_tokens"), 0);
        break;
    default: return phi__compaction_at_run(moment);
    }
    return PHI__RUN_ON;
}

PHI__FN const phi__feature *phi__compaction_feature(void) {
    enum {
        points = PHI__POINT_TURN_BEGUN | PHI__POINT_ERRAND | PHI__POINT_FAILED | PHI__POINT_HELD |
                 PHI__POINT_HELD_AS | PHI__POINT_RUN_ENDS | PHI__POINT_LOG_RENEWED |
                 PHI__POINT_SHRINK | PHI__POINT_LOG_LEAVES | PHI__POINT_AGENT_FREED |
                 PHI__POINT_AGENT_SAVE | PHI__POINT_AGENT_LOAD
    };
    static const phi__feature feature = {points,
                                         sizeof(phi__compactions),
                                         sizeof(phi__compacted_by),
                                         phi__compaction_take,
                                         NULL,
                                         PHI__FEATURE_AT_COMPACTION,
                                         NULL,
                                         NULL};
    return &feature;
}

PHI__FN bool phi__weigh_gains(const phi__agent *agent, const phi_rewrite *rewrite) {
    phi__compacted plan = PHI_ZERO;
    plan.rewrite = *rewrite;
    phi__weigh_rewrite(agent, &plan);
    return plan.tokens_after < plan.tokens_before;
}
