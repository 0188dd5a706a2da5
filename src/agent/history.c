/* history.c - reads, appends and replaces the messages of a history for the host, also as JSON. */
#include "agent/agent_in.h"
#include "agent/agent_history.h"

#include <stdio.h>

/* Refuses data that cannot be written as JSON, since saving the history would lose it. */
static phi_status phi__history_check_data(const phi_thread *thread, const char *what,
                                          phi_str data) {
    phi_arena scratch;
    phi__buf json;
    phi_status status = PHI_OK;
    if (data.len == 0) return PHI_OK;
    phi_arena_init(&scratch, thread->log.memory, 0);
    phi__buf_init(&json, thread->log.memory);
    if (!phi__message_put_json(&json, NULL, data, true, &scratch)) status = PHI_BAD_ARG;
    if (json.failed) status = PHI_NO_MEMORY;
    phi__buf_free(&json);
    phi_arena_free(&scratch);
    if (status == PHI_OK) return PHI_OK;
    return phi__error(thread->rt, status, "%s: %s", what,
                      status == PHI_NO_MEMORY ? "out of memory" : "extension_data is no JSON");
}

static phi_status phi__history_check(const phi_thread *thread, const char *what,
                                     const phi_message *m) {
    size_t block;
    const char *fault = phi__check_message(m, &block);
    if (fault != NULL && block == SIZE_MAX)
        return phi__error(thread->rt, PHI_BAD_ARG, "%s: %s", what, fault);
    if (fault != NULL)
        return phi__error(thread->rt, PHI_BAD_ARG, "%s: content[%u]: %s", what, (unsigned)block,
                          fault);
    return m->role == PHI_ROLE_EXTENSION ? phi__history_check_data(thread, what, m->extension_data)
                                         : PHI_OK;
}

static phi_status phi__history_check_all(const phi_thread *thread, const char *what,
                                         const phi_message *messages, size_t count) {
    phi_status status = PHI_OK;
    if (messages == NULL && count > 0)
        return phi__error(thread->rt, PHI_BAD_ARG, "%s: messages is missing", what);
    for (size_t i = 0; status == PHI_OK && i < count; i++) {
        char place[64];
        (void)snprintf(place, sizeof place, "%s: messages[%u]", what, (unsigned)i);
        status = phi__history_check(thread, place, &messages[i]);
    }
    return status;
}

/* ---- changing a log ---- */

/* Makes entries with copies of the messages. The entries are not logged yet, but the log has room
   for these and for `more` entries. NULL: no memory. */
static phi__entry *phi__history_draft(phi_thread *thread, const phi_message *messages, size_t count,
                                      uint32_t flags, size_t more) {
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    int64_t now = phi__thread_now(thread);
    size_t i;
    if (!phi__append_reserve(thread, phi__add(count, more), count)) return NULL;
    phi__entry *entries = (phi__entry *)phi__arena_zero(room, phi__mul(count, sizeof *entries));
    for (i = 0; entries != NULL && i < count; i++) {
        const phi_message *kept = phi__append_keep(thread, &messages[i]);
        if (kept == NULL || !phi__append_claim_calls(thread, kept)) break;
        entries[i].kind = PHI_ENTRY_MESSAGE;
        entries[i].flags = flags & PHI_ENTRY_DURABLE;
        entries[i].at_ms = now;
        entries[i].loop_id = kept->loop_id;
        entries[i].turn_index = kept->turn_index;
        entries[i].message = kept;
    }
    if (entries != NULL && i == count) return entries;
    phi_arena_reset(room, mark);
    return NULL;
}

/* If a run died, gives an error result to each of its calls without a result, before the
   conversation continues. Does nothing if the next message is a tool result, because then the host
   gives the results itself. False: no memory. */
static bool phi__history_settle(phi_thread *thread, const phi_texts *texts, phi_role role) {
    size_t i = thread->fold.count;
    if (role != PHI_ROLE_USER && role != PHI_ROLE_ASSISTANT) return true;
    while (i > 0 && thread->fold.items[i - 1].message->role == PHI_ROLE_TOOL_RESULT) i--;
    if (i == 0 || thread->fold.items[i - 1].message->loop_id.len == 0) return true;
    return phi__append_answer_orphans(thread, texts);
}

/* Appends copies of all messages or none. to_lane: appends them to a new lane, because the entries
   of the active lane stay in the store. */
static bool phi__history_put(phi_thread *thread, const phi_message *messages, size_t count,
                             uint32_t flags, bool to_lane) {
    if (!to_lane && !phi__thread_roll(thread, NULL)) return false;
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    phi__entry *entries = phi__history_draft(thread, messages, count, flags, to_lane ? 2 : 0);
    if (entries == NULL || (to_lane && phi_thread_switch(thread, NULL) != PHI_OK)) {
        phi_arena_reset(room, mark);
        return false;
    }
    phi__append_attach(thread, entries, count);
    thread->loops.restored = true; /* no run of this thread made the calls in these messages */
    return true;
}

/* Replaces the history. The messages may belong to the old log. */
static bool phi__history_replace(phi__agent *agent, const phi_message *messages, size_t count) {
    bool fresh = agent->thread->journal == NULL;
    phi_thread before;
    if (!fresh && !phi__history_put(agent->thread, messages, count, 0, true)) return false;
    if (fresh) {
        phi__exchange_begin(agent, &before);
        if (!phi__about_carry(agent->thread, &before) ||
            (count > 0 && !phi__history_put(agent->thread, messages, count, 0, false))) {
            phi__exchange_undo(agent, &before);
            return false;
        }
        phi__about_move(agent->thread, &before);
    }
    if (phi__exchange_done(agent, fresh ? &before : NULL, false)) phi__stored_evict_now(agent);
    return true;
}

PHI__FN const phi_message *phi__history_last(const phi_thread *thread) {
    size_t i = thread->fold.count;
    while (i > 0 && thread->fold.items[i - 1].message->role == PHI_ROLE_EXTENSION) i--;
    return i > 0 ? thread->fold.items[i - 1].message : NULL;
}

static bool phi__history_calls(const phi_message *message) {
    size_t i = 0;
    while (i < message->content_count && message->content[i].kind != PHI_CONTENT_TOOL_CALL) i++;
    return i < message->content_count;
}

PHI__FN phi_status phi__history_goes_on(phi_runtime *rt, const phi_thread *thread,
                                        const char *what) {
    const phi_message *last = phi__history_last(thread);
    if (last == NULL)
        return phi__error(rt, PHI_MISUSE, "%s: there are no messages to go on from", what);
    if (last->role != PHI_ROLE_ASSISTANT) return PHI_OK;
    if (phi__history_calls(last) && last == thread->fold.items[thread->fold.count - 1].message)
        return PHI_OK;
    return phi__error(rt, PHI_MISUSE, "%s: the last message is the model's own", what);
}

/* Finds an agent whose history may change now. */
static phi_status phi__history_open(phi_agent handle, const char *what, phi__agent **out) {
    phi__agent *agent = phi__find_agent(handle);
    *out = agent;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return phi__error(handle.rt, PHI_STALE, "%s: the agent is gone", what);
    if (!agent->thread->of_agent)
        return phi__error(handle.rt, PHI_MISUSE, "%s: the history is a phi_thread's", what);
    return phi__find_idle(agent, what);
}

/* Reads the messages into the arena. Their strings point into the JSON text. */
static phi_status phi__history_read(phi_arena *arena, phi_str json, phi_message **out,
                                    size_t *count, phi_parse_error *error) {
    phi_json *root = NULL, *node;
    phi_status status =
        phi_json_parse(arena, json, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root, error);
    if (status == PHI_TOO_BIG) return PHI_PARSE;
    if (status != PHI_OK) return status;
    if (!phi_json_is(root, PHI_JSON_ARRAY)) {
        error->line = error->column = 1;
        error->status = PHI_PARSE;
        (void)snprintf(error->message, sizeof error->message, "expected an array of messages");
        return PHI_PARSE;
    }
    *out = (phi_message *)phi_arena_alloc(arena, phi__mul(phi_json_count(root), sizeof **out));
    if (*out == NULL) return PHI_NO_MEMORY;
    phi_json_iter it = phi_json_each(root);
    while ((node = phi_json_next(&it)) != NULL) {
        phi_parse_error why;
        status = phi__message_read_get(node, arena, &(*out)[*count], &why);
        if (status == PHI_PARSE) {
            *error = why;
            (void)snprintf(error->message, sizeof error->message, "[%u]: %.140s", (unsigned)*count,
                           why.message);
        }
        if (status != PHI_OK) return status;
        (*count)++;
    }
    return PHI_OK;
}

/* ---- public ---- */

PHI_API size_t phi_thread_message_count(const phi_thread *thread) {
    return thread != NULL ? thread->messages.count : 0;
}

PHI_API const phi_message *phi_thread_message_at(const phi_thread *thread, size_t i) {
    phi_status status;
    if (thread == NULL) return NULL;
    const phi_message *message = phi__recall_message(thread, i, &status);
    if (status != PHI_OK)
        (void)phi__error(thread->rt, status, "phi_thread_message_at: %s", phi_status_text(status));
    return message;
}

PHI_API phi_status phi_thread_append(phi_thread *thread, const phi_message *messages, size_t count,
                                     const phi_append *options) {
    static const char *const what = "phi_thread_append";
    phi_status status = PHI_OK;
    if (thread == NULL) return PHI_BAD_ARG;
    phi__agent *agent = thread->of_agent ? PHI__OWNER(thread, phi__agent, own) : NULL;
    if (agent != NULL && agent->run != NULL) status = phi__find_idle(agent, what);
    if (agent == NULL && thread->user != NULL)
        status = phi__error(thread->rt, PHI_BUSY, "%s: a run goes over the thread", what);
    if (status != PHI_OK) return status;
    if (options != NULL && options->has_expected && options->expected != thread->log.count)
        return phi__error(thread->rt, PHI_STALE, "%s: the thread has %llu entries, not %llu", what,
                          (unsigned long long)thread->log.count,
                          (unsigned long long)options->expected);
    if (count == 0) return phi__error(thread->rt, PHI_BAD_ARG, "%s: there are no messages", what);
    status = phi__history_check_all(thread, what, messages, count);
    if (status != PHI_OK) return status;
    if (phi__history_settle(thread, agent != NULL ? agent->desc.texts : NULL, messages[0].role) &&
        phi__history_put(thread, messages, count, options != NULL ? options->flags : 0, false))
        return PHI_OK;
    return phi__error(thread->rt, PHI_NO_MEMORY, "%s: out of memory", what);
}

PHI_API phi_status phi_agent_replace_messages(phi_agent handle, const phi_message *messages,
                                              size_t count) {
    phi__agent *agent;
    phi_status status = phi__history_open(handle, "phi_agent_replace_messages", &agent);
    if (status == PHI_OK)
        status =
            phi__history_check_all(agent->thread, "phi_agent_replace_messages", messages, count);
    if (status != PHI_OK) return status;
    return phi__history_replace(agent, messages, count)
               ? PHI_OK
               : phi__error(handle.rt, PHI_NO_MEMORY, "phi_agent_replace_messages: out of memory");
}

PHI_API phi_status phi_agent_messages_to_json(phi_agent handle, phi_arena *arena, phi_str *out) {
    const phi__agent *agent = phi__find_agent(handle);
    phi__buf buf;
    phi_arena scratch;
    if (handle.rt == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    if (agent == NULL)
        return phi__error(handle.rt, PHI_STALE, "phi_agent_messages_to_json: the agent is gone");
    phi_status status = phi__recall(agent->thread);
    if (status != PHI_OK)
        return phi__error(handle.rt, status, "phi_agent_messages_to_json: %s",
                          phi_status_text(status));
    phi__buf_init(&buf, arena->memory);
    phi_arena_init(&scratch, arena->memory, 0);
    phi__buf_char(&buf, '[');
    for (size_t i = 0; i < agent->thread->messages.count && !buf.failed; i++) {
        phi__json_write_comma(&buf);
        phi__message_put(&buf, agent->thread->messages.at[i]->message, &scratch);
    }
    phi__buf_char(&buf, ']');
    phi_arena_free(&scratch);
    bool done = !buf.failed && phi__arena_str(arena, phi__buf_str(&buf), out);
    phi__buf_free(&buf);
    return done ? PHI_OK
                : phi__error(handle.rt, PHI_NO_MEMORY, "phi_agent_messages_to_json: out of memory");
}

PHI_API phi_status phi_agent_messages_from_json(phi_agent handle, phi_str json,
                                                phi_parse_error *error) {
    phi__agent *agent;
    phi_arena arena;
    phi_parse_error own;
    phi_message *messages = NULL;
    size_t count = 0;
    phi_status status = phi__history_open(handle, "phi_agent_messages_from_json", &agent);
    if (error == NULL) error = &own;
    memset(error, 0, sizeof *error);
    if (status != PHI_OK) return status;
    phi_arena_init(&arena, &handle.rt->memory, 0);
    status = phi__history_read(&arena, json, &messages, &count, error);
    if (status == PHI_OK && !phi__history_replace(agent, messages, count)) status = PHI_NO_MEMORY;
    phi_arena_free(&arena);
    if (status == PHI_OK) return status;
    return phi__error(handle.rt, status, "phi_agent_messages_from_json: %s",
                      status == PHI_PARSE ? error->message : "out of memory");
}
