/* thread.c - appending, and keeping the projection up to date. */
#include "thread/thread_in.h"

#include "model/tokens.h"
#include "wire/hash_in.h"

PHI__FN void phi__thread_init(phi__thread *thread, phi_memory *memory) {
    memset(thread, 0, sizeof *thread);
    thread->memory = memory;
    phi_arena_init(&thread->arena, memory, 0);
}

PHI__FN void phi__thread_free(phi__thread *thread) {
    phi__free(thread->memory, thread->entries, thread->cap * sizeof *thread->entries);
    phi__free(thread->memory, thread->messages, thread->message_cap * sizeof *thread->messages);
    phi__free(thread->memory, thread->items, thread->item_cap * sizeof *thread->items);
    phi__free(thread->memory, thread->ids, thread->id_cap * sizeof *thread->ids);
    phi_arena_free(&thread->arena);
    phi__thread_init(thread, thread->memory);
}

/* A failed answer may hold half a thought or calls that never ran: the model does not see it. */
static bool phi__thread_projects(const phi_message *message) {
    return message->role != PHI_ROLE_ASSISTANT || (message->stop_reason != PHI_STOP_REASON_ERROR &&
                                                   message->stop_reason != PHI_STOP_REASON_ABORTED);
}

static void phi__thread_project(phi__thread *thread, phi__entry *entry) {
    phi__item *item = &thread->items[thread->item_count];
    if (!phi__thread_projects(entry->message)) return;
    thread->item_count++;
    thread->item_tokens += phi_tokens_of_message(NULL, entry->message);
    item->message = entry->message;
    item->rendered = &entry->rendered;
    item->arena = &thread->arena;
    item->origin = entry->message->role == PHI_ROLE_ASSISTANT
                       ? phi__origin_of(entry->message->model, entry->message->provider,
                                        entry->message->protocol)
                       : 0;
}

PHI__FN bool phi__thread_reserve(phi__thread *thread, size_t n, size_t messages) {
    void *grown;
    if (n > 0) {
        grown = phi__grow(thread->memory, thread->entries, &thread->cap, phi__add(thread->count, n),
                          sizeof *thread->entries);
        if (grown == NULL) return false;
        thread->entries = (phi__entry **)grown;
    }
    if (messages == 0) return true;
    grown = phi__grow(thread->memory, thread->messages, &thread->message_cap,
                      phi__add(thread->message_count, messages), sizeof *thread->messages);
    if (grown == NULL) return false;
    thread->messages = (phi__entry **)grown;
    grown = phi__grow(thread->memory, thread->items, &thread->item_cap,
                      phi__add(thread->item_count, messages), sizeof *thread->items);
    if (grown == NULL) return false;
    thread->items = (phi__item *)grown;
    return true;
}

PHI__FN void phi__thread_attach(phi__thread *thread, phi__entry *entries, size_t n) {
    size_t i;
    for (i = 0; i < n; i++) {
        phi__entry *entry = &entries[i];
        entry->seq = thread->count;
        thread->entries[thread->count++] = entry;
        if (entry->kind != PHI__ENTRY_MESSAGE) continue;
        thread->messages[thread->message_count++] = entry;
        phi__thread_project(thread, entry);
    }
}

PHI__FN bool phi__thread_append(phi__thread *thread, const phi__entry *entries, size_t n) {
    size_t messages = 0, i;
    phi__entry *kept;
    if (n == 0) return true;
    for (i = 0; i < n; i++) messages += entries[i].kind == PHI__ENTRY_MESSAGE;
    if (!phi__thread_reserve(thread, n, messages)) return false;
    kept = (phi__entry *)phi_arena_alloc(&thread->arena, phi__mul(n, sizeof *kept));
    if (kept == NULL) return false;
    memcpy(kept, entries, n * sizeof *kept);
    phi__thread_attach(thread, kept, n);
    return true;
}

PHI__FN phi_message *phi__thread_keep(phi__thread *thread, const phi_message *message) {
    phi_arena_mark mark = phi_arena_save(&thread->arena);
    phi_message *kept = phi_message_copy(message, &thread->arena);
    if (kept == NULL) phi_arena_reset(&thread->arena, mark);
    return kept;
}

static bool phi__thread_answer(phi__thread *thread, const phi_message *asked,
                               const phi_content *call, int64_t at_ms) {
    phi_content content;
    phi_message result;
    phi__entry entry;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    memset(&entry, 0, sizeof entry);
    content.kind = PHI_CONTENT_TEXT;
    content.text = PHI__LIT("Out of memory");
    result.role = PHI_ROLE_TOOL_RESULT;
    result.content = &content;
    result.content_count = 1;
    result.tool_call_id = call->id;
    result.tool_name = call->name;
    result.is_error = true;
    result.timestamp_ms = entry.at_ms = at_ms;
    result.loop_id = entry.loop_id = asked->loop_id;
    result.turn_index = entry.turn_index = asked->turn_index;
    entry.kind = PHI__ENTRY_MESSAGE;
    entry.message = phi__thread_keep(thread, &result);
    return entry.message != NULL && phi__thread_append(thread, &entry, 1);
}

/* Whether one of these results is for this call. They mostly stand in call order, and *next is the one; a
   host's history may have them in any. */
static bool phi__thread_answered(const phi__thread *thread, size_t first, size_t end, size_t *next,
                                 phi_str id) {
    size_t i;
    if (*next < end && phi_str_equal(thread->messages[*next]->message->tool_call_id, id)) {
        ++*next;
        return true;
    }
    for (i = first; i < end; i++)
        if (phi_str_equal(thread->messages[i]->message->tool_call_id, id)) return true;
    return false;
}

PHI__FN bool phi__thread_answer_orphans(phi__thread *thread, int64_t at_ms) {
    size_t end = thread->message_count, at = end, next, i;
    const phi_message *asked;
    while (at > 0 && thread->messages[at - 1]->message->role == PHI_ROLE_TOOL_RESULT) at--;
    if (at == 0) return true;
    asked = thread->messages[at - 1]->message;
    if (asked->role != PHI_ROLE_ASSISTANT || !phi__thread_projects(asked)) return true;
    next = at;
    for (i = 0; i < asked->content_count; i++) {
        if (asked->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        if (phi__thread_answered(thread, at, end, &next, asked->content[i].id)) continue;
        if (!phi__thread_answer(thread, asked, &asked->content[i], at_ms)) return false;
    }
    return true;
}

/* ---- ids ---- */

/* Where a hash stands, or the free place where it would. */
static size_t phi__thread_id_place(const uint64_t *ids, size_t cap, uint64_t hash) {
    size_t at = (size_t)hash & (cap - 1);
    while (ids[at] != 0 && ids[at] != hash) at = (at + 1) & (cap - 1);
    return at;
}

static bool phi__thread_id_room(phi__thread *thread) {
    size_t cap = thread->id_cap > 0 ? thread->id_cap * 2 : 16, i;
    uint64_t *ids;
    if (thread->id_count * 2 < thread->id_cap) return true;
    ids = (uint64_t *)phi__alloc(thread->memory, phi__mul(cap, sizeof *ids));
    if (ids == NULL) return false;
    for (i = 0; i < thread->id_cap; i++)
        if (thread->ids[i] != 0)
            ids[phi__thread_id_place(ids, cap, thread->ids[i])] = thread->ids[i];
    phi__free(thread->memory, thread->ids, thread->id_cap * sizeof *ids);
    thread->ids = ids;
    thread->id_cap = cap;
    return true;
}

PHI__FN phi_status phi__thread_claim_id(phi__thread *thread, phi_str id) {
    uint64_t hash = phi__hash(id, 0);
    size_t at;
    if (hash == 0) hash = 1;
    if (!phi__thread_id_room(thread)) return PHI_NO_MEMORY;
    at = phi__thread_id_place(thread->ids, thread->id_cap, hash);
    if (thread->ids[at] == hash) return PHI_FULL;
    thread->ids[at] = hash;
    thread->id_count++;
    return PHI_OK;
}
