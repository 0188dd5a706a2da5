/* stored.c - steps and runs over threads that are in a store: what was appended is written, and trouble is told.

   Told once, until the store has taken something again; what it refused goes with the next entries. Nothing here
   ends a run: the log in memory is whole. */
#include "loop/loop_in.h"

#include <stdio.h>

/* Who hears of a thread: the agent of the run that goes over it, or whose own it is; NULL: nobody. */
static phi__agent *phi__stored_agent(const phi__thread *thread) {
    if (thread->user != NULL) return ((const phi__run *)thread->user)->agent;
    return thread->of_agent ? PHI__OWNER(thread, phi__agent, own) : NULL;
}

static void phi__stored_tell(phi__thread *thread, const char *why) {
    phi__agent *agent = phi__stored_agent(thread);
    char words[PHI__STORED_WORDS + 200];
    phi_event event;
    if (agent == NULL || thread->journal->failing) return;
    (void)snprintf(words, sizeof words, "The thread \"%s\" could not be stored: %s",
                   thread->journal->id, why);
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_WARNING;
    event.text = phi_str_of(words);
    thread->journal->failing = phi__emit(agent, &event, NULL, 0);
}

static bool phi__stored_write(phi__thread *thread, bool all) {
    char why[PHI__STORED_WORDS];
    phi_status status = all ? phi__journal_sync(thread, why, sizeof why)
                            : phi__journal_batch(thread, why, sizeof why);
    if (status != PHI_OK)
        phi__stored_tell(thread, why);
    else
        thread->journal->failing = false;
    return status == PHI_OK;
}

/* ---- shared ---- */

PHI__FN bool phi__stored_run(phi__run *run) {
    phi__thread *thread = run->agent->thread;
    return thread->journal != NULL && phi__stored_write(thread, true);
}

PHI__FN void phi__stored_updated(phi__run *run) {
    phi__thread *thread = run->agent->thread;
    phi_usage *usage;
    phi_event event;
    if (!phi__stored_run(run) || run->silent) return;
    usage = (phi_usage *)phi_arena_alloc(&thread->arena, sizeof *usage);
    if (usage == NULL) return;
    *usage = thread->usage;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_THREAD_UPDATED;
    event.text = phi__str(thread->journal->id, thread->journal->id_len);
    event.message_count = thread->message_count;
    event.usage = usage;
    (void)phi__emit(run->agent, &event, NULL, 0);
}

/* A batch of each at most, and one in any case; those that are left, or have more, have their turn next time. */
PHI__FN void phi__stored_step(phi_runtime *rt) {
    const phi__journal *last = rt->grown.tail;
    phi__journal *journal = NULL;
    while (journal != last && (journal = phi__journal_next(&rt->grown)) != NULL) {
        phi__thread *thread = journal->thread;
        if (phi__stored_write(thread, false) && journal->stored < thread->count)
            phi__journal_grew(thread);
        if (phi__step_spent(rt)) return;
    }
}
