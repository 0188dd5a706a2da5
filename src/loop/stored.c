/* stored.c - writes new entries of threads to a store, in steps and at the end of turns and runs;
   reports failures; evicts entries that are in no view.

   A failure is reported once, until a write succeeds. Entries that the store refused are written
   with the next ones. A failure ends no run, because the log in memory is complete. */
#include "loop/inner_in.h"

#include <stdio.h>

PHI__FN const phi__entry *phi__stored_reply_entry(const phi__run *run) {
    const phi_thread *thread = run->agent->thread;
    size_t i = thread->messages.held;
    for (; run->reply != NULL && i > 0; i--)
        if (thread->messages.at[i - 1]->message == run->reply) return thread->messages.at[i - 1];
    return NULL;
}

/* Returns the agent that gets a thread's events: the agent of the thread's run, or the thread's
   owner. NULL: none. */
static phi__agent *phi__stored_agent(const phi_thread *thread) {
    if (thread->user != NULL) return ((const phi__run *)thread->user)->agent;
    return thread->of_agent ? PHI__OWNER(thread, phi__agent, own) : NULL;
}

static void phi__stored_emit(phi_thread *thread, const char *why) {
    phi__agent *agent = phi__stored_agent(thread);
    char words[PHI__STORED_WORDS + 200];
    if (agent == NULL || thread->journal->failing) return;
    (void)snprintf(words, sizeof words, "The thread \"%s\" could not be stored: %s",
                   thread->journal->id, why);
    thread->journal->failing = phi__events_warn(agent, phi_str_of(words));
}

static bool phi__stored_write(phi_thread *thread, bool all) {
    char why[PHI__STORED_WORDS];
    phi_status status = all ? phi__journal_sync(thread, why, sizeof why)
                            : phi__journal_batch(thread, why, sizeof why);
    if (status != PHI_OK)
        phi__stored_emit(thread, why);
    else
        thread->journal->failing = false;
    return status == PHI_OK;
}

/* ---- used by other files ---- */

PHI__FN bool phi__stored_run(phi__run *run) {
    phi_thread *thread = run->agent->thread;
    return thread->journal != NULL && phi__stored_write(thread, true);
}

PHI__FN void phi__stored_updated(phi__run *run) {
    phi_thread *thread = run->agent->thread;
    phi_usage *usage;
    if (!phi__stored_run(run) || run->start.silent) return;
    usage = (phi_usage *)phi_arena_alloc(phi__thread_room(thread), sizeof *usage);
    if (usage == NULL) return;
    *usage = thread->counted.usage;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_THREAD_UPDATED;
    event.text = phi__str(thread->journal->id, thread->journal->id_len);
    event.message_count = thread->messages.count;
    event.usage = usage;
    (void)phi__events_emit(run->agent, &event);
}

/* Writes a batch of each thread, until the slice is spent. The next step continues. */
PHI__FN void phi__stored_step(phi_runtime *rt) {
    const phi__link *last = rt->grown.of[PHI__DIRTY_GREW].last;
    phi__journal *journal = NULL;
    while ((journal == NULL || &journal->dirty.links[PHI__DIRTY_GREW] != last) &&
           (journal = phi__journal_next(&rt->grown, PHI__DIRTY_GREW)) != NULL) {
        phi_thread *thread = journal->thread;
        if (phi__stored_write(thread, false) && journal->stored < thread->log.count)
            phi__journal_list(thread, PHI__DIRTY_GREW);
        if (phi__slice_spent(&rt->slice)) return;
    }
}

/* ---- evicting ---- */

/* True if nothing outside points into the log: no event of the log's agent is queued or waits to be
   freed, and no summary of the log is being written. The events of a lent log may belong to other
   agents, so no event at all may be queued. */
static bool phi__stored_unseen(const phi_thread *thread) {
    const phi__agent *agent = phi__stored_agent(thread);
    if (agent != NULL && phi__find_reader(agent)) return false;
    if (thread->of_agent) return agent->events.all.first == NULL;
    return thread->rt->events.queued.first == NULL && thread->rt->events.held.first == NULL;
}

/* Pins the start of the log's open turn, because context edits by the turn's tools depend on it. */
static void phi__stored_pin_turn(const phi_thread *thread) {
    for (size_t i = thread->log.held; i > 0; i--) {
        const phi__entry *entry = thread->log.entries[i - 1];
        if (entry->kind == PHI_ENTRY_TURN_END || entry->kind == PHI_ENTRY_LOOP_START) return;
        if (entry->kind != PHI_ENTRY_TURN_START) continue;
        phi__segments_pin(entry->segment);
        return;
    }
}

/* Pins the entries outside of the view that the loop and its host use. False: no memory. */
static bool phi__stored_pin(const phi_thread *thread) {
    phi__run *run = (phi__run *)thread->user;
    if (run != NULL && run->response != NULL) phi__responses_update(run->response, run);
    if (thread->of_agent) {
        const phi__response *response = phi__stored_agent(thread)->responses;
        for (; response != NULL; response = response->older) {
            phi__segments_pin(response->message_in);
            phi__segments_pin(response->rest_in);
        }
    }
    if (run == NULL) return true;
    phi__stored_pin_turn(thread);
    const phi__entry *reply = phi__stored_reply_entry(run);
    if (reply != NULL) phi__segments_pin(reply->segment);
    return phi__ask_list_pin(run);
}

static void phi__stored_evict_thread(phi_thread *thread) {
    if (phi__stored_unseen(thread) && phi__evict_begin(thread) && phi__stored_pin(thread))
        phi__evict_end(thread);
}

PHI__FN void phi__stored_evict_now(phi__agent *agent) {
    phi_thread *thread = agent->thread;
    if (agent->desc.memory.limit_bytes != 0 && thread->journal != NULL &&
        phi__stored_write(thread, true))
        phi__stored_evict_thread(thread);
}

PHI__FN void phi__stored_evict(phi_runtime *rt) {
    const phi__link *last = rt->grown.of[PHI__DIRTY_LEAVES].last;
    phi__journal *journal = NULL;
    while ((journal == NULL || &journal->dirty.links[PHI__DIRTY_LEAVES] != last) &&
           (journal = phi__journal_next(&rt->grown, PHI__DIRTY_LEAVES)) != NULL) {
        phi_thread *thread = journal->thread;
        phi__stored_evict_thread(thread);
        if (thread->log.left) phi__journal_list(thread, PHI__DIRTY_LEAVES);
    }
}
