/* forget.c - makes room for the next run of an agent with a memory limit, if its log is too large.

   A run starts with this work, before its first event and when no event of the agent is in use. At
   that time only the run itself points into the log. The view is made smaller and copied to a new
   log, and the old log is freed. If the log is in a store, only the view is made smaller, and
   stored entries are evicted (stored.c). During the run a part of the limit is kept back, so that
   the next prompt, a compaction and the copy find memory even after a run that used all the memory
   it could get. After a run that ended without memory, the next run may keep only half as much log,
   and so on. */
#include "loop/inner_in.h"

#include <stdio.h>

enum {
    PHI__FORGET_HALVES = 6,       /* how often the log's limit can be halved */
    PHI__FORGET_HEADROOM = 32768, /* bytes for a run, in addition to limit / 4 */
    PHI__FORGET_RUN = 12288,      /* bytes that a run needs at least */
    PHI__FORGET_RESERVE = 32768,  /* bytes kept back during a run, but never more than limit / 8 */
    PHI__FORGET_LEAST = 512       /* a log of fewer bytes is not kept */
};

/* ---- computing the log's limit ---- */

static size_t phi__forget_headroom(size_t limit) {
    size_t most = phi__min(limit / 2, PHI__FORGET_HEADROOM + limit / 4);
    return phi__max(most, phi__min(PHI__FORGET_RUN, limit));
}

/* Returns how many bytes the log may take. The rest of the limit is for a run and for the agent's
   other memory. */
static size_t phi__forget_room(const phi__agent *agent, size_t log_bytes, uint32_t halves) {
    size_t limit = agent->desc.memory.limit_bytes, most = limit - phi__forget_headroom(limit);
    size_t others = agent->memory.used_bytes - log_bytes;
    size_t room = others < most ? most - others : 0;
    return phi__max(room, limit / 16) >> phi__min(halves, PHI__FORGET_HALVES);
}

/* True if nothing outside points into the log: the agent's events were freed, and no summary of the
   log is being written. */
static bool phi__forget_unseen(const phi__agent *agent) {
    return !phi__find_reader(agent) && agent->events.all.first == NULL;
}

static bool phi__forget_may(const phi__agent *agent) {
    return agent->desc.memory.limit_bytes != 0 &&
           agent->desc.memory.at_limit != PHI_AT_MEMORY_LIMIT_STOP &&
           agent->thread == &agent->own && agent->slot != NULL;
}

/* ---- the copy ---- */

/* Rebuilds the log with the view's items that `keep` marks. False: no memory; nothing changed. */
static bool phi__forget_exchange(phi__agent *agent, const uint8_t *keep, phi_forgotten **made) {
    phi_thread *thread = agent->thread, before;
    phi__run *run = agent->run;
    phi__thread_move(&before, thread);
    if (!phi__rebase_copy(thread, &before, keep, agent->rt->features.carry_state, made) ||
        (run != NULL && !phi__draft_rehome(run, &before))) {
        phi__journal_free_thread(thread);
        phi__thread_move(thread, &before);
        return false;
    }
    thread->user = run;
    thread->loops.keeps_none = before.loops.keeps_none;
    phi__response *response = agent->responses, *older;
    for (; response != NULL; response = older) {
        older = response->older;
        if (agent->run == NULL || agent->run->response != response)
            phi__responses_drop_one(response);
    }
    phi__feature_renewed(agent, keep == NULL ? &before.fold : NULL, true);
    phi__about_move(thread, &before);
    phi__journal_free_thread(&before);
    return true;
}

/* Copies as much of the view as fits into memory. If even a small part does not fit, copies nothing
   or, for a run without a prompt, only the messages that the run continues. */
static bool phi__forget_copy_some(phi__agent *agent, size_t target, phi_forgotten **made) {
    size_t count = phi__max(agent->thread->fold.count, 1);
    uint8_t *keep = (uint8_t *)phi__alloc(&agent->memory, count);
    bool newest = agent->run != NULL && agent->run->said.prompts == NULL, done = false;
    while (keep != NULL && !done) {
        bool last = target < PHI__FORGET_LEAST;
        bool chosen = phi__rebase_choose(agent->thread, last ? 0 : target, newest, keep);
        if (chosen || !newest) done = phi__forget_exchange(agent, keep, made);
        if (last) break;
        target /= 2;
    }
    phi__free(&agent->memory, keep, keep != NULL ? count : 0);
    return done;
}

/* ---- making room ---- */

/* For a log in a store. Makes only the view smaller, in proportion to the log. */
static void phi__forget_shrink(phi__agent *agent, size_t target) {
    phi_thread *thread = agent->thread;
    size_t bytes = phi__thread_bytes(thread), removed = 0;
    double part = (double)target / (double)phi__max(bytes, 1);
    if (bytes <= target) return;
    (void)phi__truncate(thread, (uint64_t)((double)phi__projection_view_tokens(agent) * part),
                        phi__projection_counter(agent), agent->desc.texts, phi__str("", 0), 0,
                        &removed);
}

/* Compacts the log. Uses the result of the host's compactor, if there is one. If that is not
   enough, uses phi's own plan, too. The host may free the agent. */
static bool phi__forget_compact(phi__agent *agent, size_t target) {
    if (agent->desc.memory.at_limit != PHI_AT_MEMORY_LIMIT_COMPACT) return false;
    phi__moment moment = phi__feature_moment(agent, NULL, PHI__POINT_SHRINK);
    moment.whole = true;
    (void)phi__feature_take(&moment);
    bool did = moment.did;
    if (agent->slot == NULL || phi__rebase_bytes(&agent->thread->fold, NULL) <= target) return did;
    moment = phi__feature_moment(agent, NULL, PHI__POINT_SHRINK);
    moment.tokens = target / PHI__FORGET_SUMMARY;
    (void)phi__feature_take(&moment); /* without memory for this, the oldest turns are removed */
    return did || moment.did;
}

/* Makes the log small enough to grow again. False: no memory for the event. May free the agent. */
static bool phi__forget_do(phi__agent *agent, uint32_t halves) {
    phi_thread *thread = agent->thread;
    size_t used = agent->memory.used_bytes;
    size_t target = phi__forget_room(agent, phi__thread_bytes(thread), halves) / 2;
    phi_forgotten *made = NULL;
    bool compacted = phi__forget_compact(agent, target);
    if (agent->slot != NULL) phi__feature_agent(agent, PHI__POINT_LOG_LEAVES);
    if (agent->slot == NULL) return true;
    if (thread->journal != NULL) {
        phi__forget_shrink(agent, target);
        phi__thread_evictable(thread);
        return true;
    }
    if (!phi__forget_copy_some(agent, target, &made)) return true; /* the run may succeed anyway */
    made->compacted = compacted;
    made->bytes = used > agent->memory.used_bytes ? used - agent->memory.used_bytes : 0;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_FORGOTTEN;
    event.forgotten = made;
    return phi__events_emit(agent, &event);
}

/* True if the log is too large. A log that holds only a run's beginning cannot be made smaller. */
static bool phi__forget_due(const phi__agent *agent, uint32_t halves) {
    size_t bytes = phi__thread_bytes(agent->thread);
    return agent->thread->log.held > 1 && bytes > phi__forget_room(agent, bytes, halves);
}

/* ---- shared ---- */

PHI__FN size_t phi__forget_near(const phi__agent *agent) {
    size_t bytes = phi__thread_bytes(agent->thread);
    if (!phi__forget_may(agent) || agent->desc.memory.at_limit != PHI_AT_MEMORY_LIMIT_COMPACT)
        return 0;
    size_t room = phi__forget_room(agent, bytes, agent->room.runs_short);
    return bytes > room / 2 + room / 4 ? room : 0;
}

PHI__FN bool phi__forget_begin(phi__run *run, bool *wait) {
    phi__agent *agent = run->agent;
    uint32_t halves = agent->room.runs_short;
    bool emitted = true;
    if (run->has_room) return true;
    run->has_room = true; /* a run tries once, even if events in use prevent it now */
    if (!phi__forget_may(agent)) return true;
    if (phi__forget_unseen(agent) && phi__forget_due(agent, halves)) {
        emitted = phi__forget_do(agent, halves);
        if (agent->slot == NULL) return true;
        *wait = agent->thread->journal != NULL && /* the next step evicts entries */
                phi__schedule_timer_set(run, phi__io_now_us(agent->rt->io));
    }
    agent->memory.limit_bytes -= phi__min(agent->desc.memory.limit_bytes / 8, PHI__FORGET_RESERVE);
    return emitted;
}

PHI__FN void phi__forget_ran(phi__agent *agent, phi_status status) {
    agent->room.runs_short = status == PHI_NO_MEMORY ? agent->room.runs_short + 1 : 0;
}

PHI__FN void phi__forget_press(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    if (agent->room.pressed || !phi__forget_may(agent)) return;
    agent->room.pressed = true;
    phi__list_push(&rt->pressed, &agent->room.link);
}

PHI__FN void phi__forget_unpress(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    if (!agent->room.pressed) return;
    agent->room.pressed = false;
    phi__list_take(&rt->pressed, &agent->room.link);
}

/* Handles the agents in rt->pressed. Agents with events in use are put back. A compactor may free
   any agent, so before each call the list is consistent and contains no freed agent. */
PHI__FN void phi__forget_step(phi_runtime *rt) {
    phi__link *last = rt->pressed.last;
    bool more = last != NULL;
    while (more && rt->pressed.first != NULL) {
        phi__agent *agent = PHI__OWNER(rt->pressed.first, phi__agent, room.link);
        more = &agent->room.link != last && PHI__OWNER(last, phi__agent, room.link)->room.pressed;
        phi__forget_unpress(agent);
        if (agent->run != NULL) continue; /* the agent's run has begun after all */
        if (!phi__forget_unseen(agent)) {
            phi__forget_press(agent);
            continue;
        }
        (void)phi__forget_do(agent, agent->room.runs_short + 1);
    }
}
