/* new_session.c - begins a session, in a log of its own.

   The new log begins with messages, not with a rewrite that holds them: a log without entries has
   nothing that could be replaced, and the messages of one span could later be compacted only
   together. */
#include "agent/agent_in.h"
#include "agent/agent_history.h"

#include <stdio.h>

/* A log that could not be stored as a whole is removed from the store again: its id is not known
   outside. */
static void phi__new_session_unkeep(phi_thread *thread, const phi_store *store, const char *id) {
    phi__journal_close(thread);
    if (store->remove_thread != NULL) (void)store->remove_thread(store->user_data, id, NULL, 0);
}

/* Into the store of the log before, if there is one; id: the new one's. */
static phi_status phi__new_session_fill(phi__agent *agent, const phi_thread *before, bool empty,
                                        const char *id, char *words, size_t words_size) {
    phi_thread *thread = agent->thread;
    const phi_store *store = before->journal != NULL ? &before->journal->store : NULL;
    phi_status status =
        store != NULL ? phi__journal_open(thread, store, id, NULL, words, words_size) : PHI_OK;
    if (status == PHI_OK && thread->log.count > 0) {
        (void)snprintf(words, words_size, "the store has it already");
        return PHI_MISUSE;
    }
    if (status != PHI_OK) return status;
    if (!empty && (!phi__tool_state_carry(thread, before, before->lanes.active, UINT64_MAX) ||
                   !phi__rebase_take(thread, before, &before->fold, NULL)))
        return PHI_NO_MEMORY;
    phi__loops_set_restored(thread, before->loops.restored);
    status = phi__journal_sync(thread, words, words_size);
    if (status != PHI_OK) phi__new_session_unkeep(thread, store, id);
    return status;
}

static phi_status phi__new_session_error(phi__agent *agent, const char *what, const char *id,
                                         phi_status status, const char *words) {
    if (agent->thread->journal != NULL)
        return phi__agent_store_error(agent, what, id, status, words);
    return phi__error(agent->rt, status, "%s: out of memory", what);
}

/* All that may fail comes first. */
static phi_status phi__new_session_begin(phi__agent *agent, const char *what, bool empty) {
    phi__sessions *sessions = &agent->rt->sessions;
    char session_id[PHI__UUID_SIZE], thread_id[PHI__UUID_SIZE], words[PHI__AGENT_STORE_WORDS] = "";
    phi__session *session;
    phi_thread before;
    phi_status status = phi__journal_sync(agent->thread, words, sizeof words);
    if (status != PHI_OK)
        return phi__new_session_error(agent, what, agent->thread->journal->id, status, words);
    phi__agent_take_random_id(agent, session_id);
    phi__agent_take_random_id(agent, thread_id); /* also without a store: chance is the same then */
    session = phi__session_take(sessions, phi_str_of(session_id));
    if (session == NULL) return phi__error(agent->rt, PHI_NO_MEMORY, "%s: out of memory", what);
    phi__exchange_begin(agent, &before);
    status = phi__new_session_fill(agent, &before, empty, thread_id, words, sizeof words);
    if (status != PHI_OK) {
        phi__exchange_undo(agent, &before);
        phi__session_drop(sessions, session);
        return phi__new_session_error(agent, what, thread_id, status, words);
    }
    phi__line_move(agent, session);
    phi__line_restart(agent);
    (void)phi__exchange_done(agent, &before, !empty);
    return PHI_OK;
}

static phi_status phi__new_session_may(phi_agent handle, phi__agent *agent, const char *what) {
    phi_status status;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return phi__error(handle.rt, PHI_STALE, "%s: the agent is gone", what);
    status = phi__find_idle(agent, what);
    if (status == PHI_OK && !agent->thread->of_agent)
        status = phi__error(handle.rt, PHI_MISUSE, "%s: the thread is not its own", what);
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_agent_new_session(phi_agent handle, bool empty) {
    phi__agent *agent = phi__find_agent(handle);
    phi_status status = phi__new_session_may(handle, agent, "phi_agent_new_session");
    return status == PHI_OK ? phi__new_session_begin(agent, "phi_agent_new_session", empty)
                            : status;
}

PHI_API phi_status phi_agent_rotate(phi_agent handle, uint64_t threshold_ms, bool *rotated) {
    phi__agent *agent = phi__find_agent(handle);
    phi_status status = phi__new_session_may(handle, agent, "phi_agent_rotate");
    uint64_t elapsed;
    if (rotated != NULL) *rotated = false;
    if (status != PHI_OK || agent->line.last_active_us == 0) return status;
    elapsed = phi__io_now_us(handle.rt->io) - agent->line.last_active_us;
    if (elapsed / 1000 < threshold_ms || elapsed <= threshold_ms * 1000) return PHI_OK;
    status = phi__new_session_begin(agent, "phi_agent_rotate", false);
    if (rotated != NULL) *rotated = status == PHI_OK;
    return status;
}
