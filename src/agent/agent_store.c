/* agent_store.c - opens, continues and exchanges the threads of agents that have a store. */
#include "agent/agent_history.h"
#include "agent/agent_in.h"

#include <stdio.h>

/* Sets the error about this thread. If `words` is empty, the message is the status's text. */
static phi_status phi__stored_error(phi__agent *agent, const char *what, const char *id,
                                    phi_status status, const char *words) {
    return phi__error(agent->rt, status, "%s: thread \"%.128s\": %s", what, id,
                      words[0] != '\0' ? words : phi_status_text(status));
}

/* ---- continuing a stored log ---- */

/* Finds a run's first entry by its loop id; NULL: there is none. */
static const phi__entry *phi__agent_store_run(const phi_thread *thread, phi_str loop_id) {
    size_t i = thread->log.held;
    while (i-- > 0)
        if (thread->log.entries[i]->kind == PHI_ENTRY_LOOP_START &&
            phi_str_equal(thread->log.entries[i]->loop_id, loop_id))
            return thread->log.entries[i];
    return NULL;
}

/* Returns the first entry of the last run that counts. Runs copied from a branch or from a
   strategy's call do not count. If an evaluation selected a branch, the selected run counts. */
static const phi__entry *phi__stored_last_run(const phi_thread *thread) {
    size_t i = thread->log.held; /* the log was read just now, so nothing is evicted */
    phi__json_found id;
    while (i > 0) {
        const phi__entry *entry = thread->log.entries[--i];
        if (entry->kind == PHI_ENTRY_LOOP_START && (entry->flags & PHI_ENTRY_GRAFTED) == 0)
            return entry;
        if (entry->kind != PHI_ENTRY_NOTE ||
            !phi__str_is(entry->of.note->kind, PHI_NOTE_PARALLEL) ||
            phi__json_cursor_find(entry->of.note->json, "selected_loop_id", &id) != PHI_OK)
            continue;
        const phi__entry *selected = phi__agent_store_run(thread, id.raw);
        if (selected != NULL) return selected;
    }
    return NULL;
}

/* Takes the session of the log's last run. For a log without runs the session is new, unless the
   agent was made with a session id. Sets the counts so that new loop ids follow the highest loop id
   in the log. A failure changes nothing but these counts, which may have grown. */
static bool phi__stored_go_on(phi__agent *agent, bool fresh, bool given_session) {
    phi__sessions *sessions = &agent->rt->sessions;
    const phi_thread *thread = agent->thread;
    const phi__entry *last = phi__stored_last_run(thread);
    phi__session *taken = NULL;
    phi_str last_loop_id = {NULL, 0};
    bool logged = last != NULL && last->of.loop != NULL && last->of.loop->session_id.len > 0;
    bool moves = !given_session && (logged || fresh);
    uint32_t loops = 0;
    if (last != NULL && !phi__own(&agent->memory, phi_str_of(last->loop_id.at), &last_loop_id))
        return false;
    if (moves) {
        char made[PHI__UUID_SIZE];
        if (!logged) phi__take_random_id(agent, made);
        taken = phi__session_take(sessions, logged ? last->of.loop->session_id : phi_str_of(made));
    }
    for (size_t i = 0; i < thread->log.held; i++)
        loops += thread->log.entries[i]->kind == PHI_ENTRY_LOOP_START;
    phi__line_count(agent, loops);
    if ((moves && taken == NULL) ||
        !phi__session_read(sessions, moves ? taken : agent->line.session, agent->thread)) {
        phi__session_drop(sessions, taken);
        phi__disown(&agent->memory, &last_loop_id);
        return false;
    }
    phi__line_begin(agent, taken, last_loop_id);
    return true;
}

static void phi__stored_emit_torn(phi__agent *agent, uint64_t torn) {
    char words[PHI__AGENT_STORE_WORDS];
    if (torn == 0) return;
    (void)snprintf(words, sizeof words, "The thread \"%s\" had a torn end: %llu bytes were cut off",
                   agent->thread->journal->id, (unsigned long long)torn);
    (void)phi__events_warn(agent, phi_str_of(words));
}

PHI__FN phi_status phi__stored_check(phi_runtime *rt, const phi_agent_desc *desc) {
    const phi_store *store = desc->store;
    if (store == NULL)
        return desc->thread_id == NULL
                   ? PHI_OK
                   : phi__error(rt, PHI_BAD_ARG, "thread_id is given, store is missing");
    if (store->append == NULL || store->read == NULL)
        return phi__error(rt, PHI_BAD_ARG, "store: append or read is missing");
    if (store->journal == NULL)
        return phi__error(rt, PHI_UNSUPPORTED,
                          "store: journal is missing: set phi_store.journal to "
                          "phi_store_journal()");
    if (desc->thread_id != NULL && !phi__journal_id_fits(desc->thread_id))
        return phi__error(rt, PHI_BAD_ARG,
                          "thread_id \"%.140s\": expected 1 to 128 of A-Z a-z 0-9 . _ -, no dot in "
                          "front",
                          desc->thread_id);
    return PHI_OK;
}

PHI__FN phi_status phi__stored_open_thread(phi__agent *agent, const phi_agent_desc *desc) {
    char made[PHI__UUID_SIZE], words[PHI__AGENT_STORE_WORDS] = "";
    const char *id = desc->thread_id;
    uint64_t torn = 0;
    if (desc->store == NULL) return PHI_OK;
    agent->store = *desc->store;
    agent->has_store = true;
    if (id == NULL) {
        phi__take_random_id(agent, made);
        id = made;
    }
    phi_status status =
        phi__journal_open(agent->thread, &agent->store, id, &torn, words, sizeof words);
    if (status == PHI_OK && !phi__stored_go_on(agent, false, desc->ids.session_id != NULL))
        status = PHI_NO_MEMORY;
    if (status == PHI_OK) status = phi__feature_opened(agent);
    if (status != PHI_OK) return phi__stored_error(agent, "phi_agent_new", id, status, words);
    phi__stored_emit_torn(agent, torn);
    return PHI_OK;
}

/* ---- public ---- */

/* Moves the agent to another thread of its store. *gone is true if the host has freed the agent. */
static phi_status phi__stored_exchange(phi__agent *agent, const char *id, uint64_t *torn,
                                       bool *gone, char *words, size_t words_size) {
    phi_thread before;
    phi_status status = phi__journal_sync(agent->thread, words, words_size);
    if (status != PHI_OK) return status;
    phi__exchange_begin(agent, &before);
    status = phi__journal_open(agent->thread, &agent->store, id, torn, words, words_size);
    if (status == PHI_OK && !phi__stored_go_on(agent, true, false)) status = PHI_NO_MEMORY;
    if (status == PHI_OK)
        *gone = !phi__exchange_done(agent, &before, false);
    else
        phi__exchange_undo(agent, &before);
    return status;
}

PHI_API phi_status phi_agent_use_thread(phi_agent handle, const char *thread_id) {
    phi__agent *agent = phi__find_agent(handle);
    char made[PHI__UUID_SIZE], words[PHI__AGENT_STORE_WORDS] = "";
    uint64_t torn = 0;
    bool gone = false;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL)
        return phi__error(handle.rt, PHI_STALE, "phi_agent_use_thread: the agent is gone");
    if (!agent->has_store || agent->thread->journal == NULL)
        return phi__error(handle.rt, PHI_MISUSE, "phi_agent_use_thread: the agent has no store");
    phi_status status = phi__find_idle(agent, "phi_agent_use_thread");
    if (status != PHI_OK) return status;
    if (thread_id != NULL && strcmp(thread_id, agent->thread->journal->id) == 0) return PHI_OK;
    if (thread_id == NULL) {
        phi__take_random_id(agent, made);
        thread_id = made;
    }
    status = phi__stored_exchange(agent, thread_id, &torn, &gone, words, sizeof words);
    if (status != PHI_OK)
        return phi__stored_error(agent, "phi_agent_use_thread", thread_id, status, words);
    if (!gone) phi__stored_emit_torn(agent, torn);
    if (!gone)
        (void)phi__feature_opened(agent); /* without memory, the features read the log next time */
    return PHI_OK;
}

/* ---- beginning a session in a new log ---- */

/* The new log begins with plain messages. A rewrite that contains these messages would not work: an
   empty log has nothing to replace, and later the messages of one span could only be compacted
   together. */

/* Fills the new log. If the old log is in a store, the new log goes to the same store under this
   id. */
static phi_status phi__session_fill(phi__agent *agent, const phi_thread *before, bool empty,
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
    if (!empty && (!phi__state_carry(thread, before, before->lanes.active, UINT64_MAX) ||
                   !phi__rebase_take(thread, before, &before->fold, NULL)))
        return PHI_NO_MEMORY;
    thread->loops.restored = before->loops.restored;
    status = phi__journal_sync(thread, words, words_size);
    if (status != PHI_OK) {
        /* Removes a log that could not be stored whole. Nobody else knows the id of this log. */
        phi__journal_close(thread);
        if (store->remove_thread != NULL) (void)store->remove_thread(store->user_data, id, NULL, 0);
    }
    return status;
}

static phi_status phi__session_error(phi__agent *agent, const char *what, const char *id,
                                     phi_status status, const char *words) {
    if (agent->thread->journal != NULL) return phi__stored_error(agent, what, id, status, words);
    return phi__error(agent->rt, status, "%s: out of memory", what);
}

/* Begins a session. Everything that may fail comes before the first change. */
static phi_status phi__session_begin(phi__agent *agent, const char *what, bool empty) {
    phi__sessions *sessions = &agent->rt->sessions;
    char session_id[PHI__UUID_SIZE], thread_id[PHI__UUID_SIZE], words[PHI__AGENT_STORE_WORDS] = "";
    phi_thread before;
    phi_status status = phi__journal_sync(agent->thread, words, sizeof words);
    if (status != PHI_OK)
        return phi__session_error(agent, what, agent->thread->journal->id, status, words);
    phi__take_random_id(agent, session_id);
    phi__take_random_id(
        agent,
        /* made even without a store, so that an agent always draws the same random numbers */
        thread_id);
    phi__session *session = phi__session_take(sessions, phi_str_of(session_id));
    if (session == NULL) return phi__error(agent->rt, PHI_NO_MEMORY, "%s: out of memory", what);
    phi__exchange_begin(agent, &before);
    status = phi__session_fill(agent, &before, empty, thread_id, words, sizeof words);
    if (status != PHI_OK) {
        phi__exchange_undo(agent, &before);
        phi__session_drop(sessions, session);
        return phi__session_error(agent, what, thread_id, status, words);
    }
    phi__line_begin(agent, session, phi__str(NULL, 0));
    (void)phi__exchange_done(agent, &before, !empty);
    return PHI_OK;
}

static phi_status phi__session_may(phi_agent handle, phi__agent *agent, const char *what) {
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return phi__error(handle.rt, PHI_STALE, "%s: the agent is gone", what);
    phi_status status = phi__find_idle(agent, what);
    if (status == PHI_OK && !agent->thread->of_agent)
        status = phi__error(handle.rt, PHI_MISUSE, "%s: the thread is not its own", what);
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_agent_new_session(phi_agent handle, bool empty) {
    phi__agent *agent = phi__find_agent(handle);
    phi_status status = phi__session_may(handle, agent, "phi_agent_new_session");
    return status == PHI_OK ? phi__session_begin(agent, "phi_agent_new_session", empty) : status;
}

PHI_API phi_status phi_agent_rotate(phi_agent handle, uint64_t threshold_ms, bool *rotated) {
    phi__agent *agent = phi__find_agent(handle);
    phi_status status = phi__session_may(handle, agent, "phi_agent_rotate");
    if (rotated != NULL) *rotated = false;
    if (status != PHI_OK || agent->line.last_active_us == 0) return status;
    uint64_t elapsed = phi__io_now_us(handle.rt->io) - agent->line.last_active_us;
    if (elapsed / 1000 < threshold_ms || elapsed <= threshold_ms * 1000) return PHI_OK;
    status = phi__session_begin(agent, "phi_agent_rotate", false);
    if (rotated != NULL) *rotated = status == PHI_OK;
    return status;
}
