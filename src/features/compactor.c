/* compactor.c - compactions by the host: starts, polls and ends its job, and applies the result. */
#include "features/compactor_in.h"

#include "loop/loop_in.h"
#include "loop/weigh_in.h"
#include "history/compact_in.h"

struct phi__compactor_job {
    phi_arena arena; /* of the request that the host got */
    phi_compaction_request request;
    phi_compactor by; /* the agent's own may be another by now */
    void *job;
    bool started;
    uint64_t base_seq;
    uint32_t lane;
};

PHI__FN void phi__compactor_forget(phi__agent *agent, phi__compactor_job **at) {
    phi__compactor_job *job = *at;
    if (job == NULL) return;
    *at = NULL;
    if (job->started) job->by.end(job->by.user_data, job->job);
    phi_arena_free(&job->arena);
    phi__free(&agent->rt->memory, job, sizeof *job);
}

/* ---- the request ---- */

static bool phi__compactor_view(phi__agent *agent, phi__compactor_job *job) {
    const phi_view_item *items = NULL;
    phi_view_item *copies;
    size_t count = 0, i;
    if (phi_thread_view(agent->thread, NULL, UINT64_MAX, &job->arena, &items, &count) != PHI_OK)
        return false;
    copies =
        (phi_view_item *)phi_arena_alloc(&job->arena, phi__mul(phi__max(count, 1), sizeof *copies));
    for (i = 0; copies != NULL && i < count; i++) {
        copies[i] = items[i];
        copies[i].message = phi_message_copy(items[i].message, &job->arena);
        if (copies[i].message == NULL) return false;
    }
    job->request.items = copies;
    job->request.item_count = count;
    return copies != NULL;
}

/* With copies of the texts: the agent's may be replaced while the job is under way. */
static bool phi__compactor_config(phi__compactor_job *job, const phi_compaction_config *config) {
    phi_str focus = PHI__LIT("");
    job->request.config = *config;
    if (config->texts != NULL) {
        job->request.config.texts = phi__texts_copy(config->texts, &job->arena);
        if (job->request.config.texts == NULL) return false;
    }
    if (config->focus_message == NULL) return true;
    if (!phi__arena_str(&job->arena, phi_str_of(config->focus_message), &focus)) return false;
    job->request.config.focus_message = focus.at;
    return true;
}

/* False: the host does not want to. It takes memory of the runtime's: the agent's own is for its
   answers. */
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
    if (phi__compactor_config(job, config) && phi__compactor_view(agent, job))
        job->started = job->by.start(job->by.user_data, &job->request, &job->job) == PHI_OK;
    if (job->started) return true;
    phi__compactor_forget(agent, at);
    return false;
}

/* ---- the outcome ---- */

/* Only checks that it can be copied; all else is checked when it is appended. */
static bool phi__compactor_whole(const phi_rewrite *made) {
    size_t i, j;
    for (i = 0; i < made->span_count; i++) {
        const phi_span *span = &made->spans[i];
        if (span->message_count > 0 && span->messages == NULL) return false;
        for (j = 0; j < span->message_count; j++)
            if (span->messages[j].content == NULL) return false;
    }
    return true;
}

/* Whether the resulting view would have any message for the model. */
static bool phi__compactor_any_visible(const phi__fold *fold, const phi_rewrite *r) {
    size_t i, j, span = 0;
    for (i = 0; i < r->span_count; i++)
        for (j = 0; j < r->spans[i].message_count; j++)
            if (r->spans[i].messages[j].role != PHI_ROLE_EXTENSION) return true;
    for (i = 0; i < fold->count; i++) {
        const phi__item *item = &fold->items[i];
        if (item->message->role == PHI_ROLE_EXTENSION) continue;
        if (!phi__weigh_in(r, &span, item) || (item->flags & PHI_ENTRY_DURABLE) != 0) return true;
    }
    return false;
}

static phi_status phi__compactor_refuse(phi__agent *agent) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_WARNING;
    event.text = PHI__LIT("The compactor's rewrite is refused: it would leave nothing to be sent");
    return phi__events_emit(agent, &event, NULL, 0) ? PHI_NOT_FOUND : PHI_NO_MEMORY;
}

/* Messages of a span get the run and turn of its first entry. They are copies. */
static void phi__compactor_stamp(const phi__fold *fold, const phi_rewrite *rewrite) {
    size_t i, j, at = 0;
    for (i = 0; i < rewrite->span_count; i++) {
        const phi_span *span = &rewrite->spans[i];
        while (at < fold->count && fold->items[at].from < span->from) at++;
        for (j = 0; at < fold->count && j < span->message_count; j++) {
            phi_message *message = (phi_message *)(uintptr_t)&span->messages[j];
            message->loop_id = fold->items[at].message->loop_id;
            message->turn_index = fold->items[at].message->turn_index;
        }
    }
}

static phi_status phi__compactor_take(phi__agent *agent, phi_arena *arena,
                                      const phi__compactor_job *job, const phi_rewrite *made,
                                      struct phi__compacted **out) {
    phi__compacted *plan = (phi__compacted *)phi__arena_zero(arena, sizeof *plan);
    phi_rewrite rewrite;
    memset(&rewrite, 0, sizeof rewrite);
    rewrite.reason = PHI_REWRITE_COMPACTION;
    rewrite.has_base = true;
    rewrite.base_seq = job->base_seq;
    rewrite.spans = made->spans;
    rewrite.span_count = made->spans != NULL ? made->span_count : 0;
    rewrite.meta = made->meta;
    rewrite.written = made->written;
    if (rewrite.span_count == 0 || !phi__compactor_whole(&rewrite)) return PHI_NOT_FOUND;
    if (plan == NULL || !phi__rewrite_copy(arena, &rewrite, &plan->rewrite)) return PHI_NO_MEMORY;
    phi__compactor_stamp(&agent->thread->fold, &plan->rewrite);
    phi__weigh_rewrite(agent, plan);
    if (!phi__compactor_any_visible(&agent->thread->fold, &plan->rewrite))
        return phi__compactor_refuse(agent);
    if (plan->tokens_after >= plan->tokens_before) return PHI_NOT_FOUND;
    *out = plan;
    return PHI_OK;
}

PHI__FN phi_status phi__compactor_poll(phi__agent *agent, phi__compactor_job **at, phi_arena *arena,
                                       struct phi__compacted **plan) {
    phi_rewrite made;
    phi_status status;
    memset(&made, 0, sizeof made);
    status = (*at)->by.poll((*at)->by.user_data, (*at)->job, &made);
    if (agent->slot == NULL) return PHI_STALE;
    if (status == PHI_BUSY) return PHI_BUSY;
    if (status == PHI_OK && (*at)->lane == agent->thread->lanes.active)
        status = phi__compactor_take(agent, arena, *at, &made, plan);
    else
        status = PHI_NOT_FOUND;
    phi__compactor_forget(agent, at);
    return agent->slot != NULL ? status : PHI_STALE;
}

PHI__FN phi_status phi__compactor_start(phi__agent *agent, phi__compactor_job **at,
                                        const phi_compaction_config *config, uint64_t target,
                                        bool at_memory_limit) {
    if (*at == NULL && (agent->desc.compactor.start == NULL ||
                        !phi__compactor_begin(agent, at, config, target, at_memory_limit)))
        return agent->slot != NULL ? PHI_NOT_FOUND : PHI_STALE;
    return agent->slot != NULL ? PHI_OK : PHI_STALE;
}
