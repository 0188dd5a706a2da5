/* append.c - appends entries, and keeps the active lane's view up to date. */
#include "history/thread_in.h"

/* ---- results and the answers with their calls ---- */

/* Messages of a list whose elements begin, `stride` bytes apart, with the message. */
typedef struct phi__groups_list {
    const void *at;
    size_t stride, count;
} phi__groups_list;

static const phi_message *phi__groups_message(const phi__groups_list *list, size_t i) {
    const void *element = (const char *)list->at + i * list->stride;
    return *(const phi_message *const *)element;
}

static size_t phi__groups_count(const phi__groups_list *list) {
    size_t j, n = 0;
    for (size_t i = 0; i < list->count; i++) {
        const phi_message *m = phi__groups_message(list, i);
        for (j = 0; m->role == PHI_ROLE_ASSISTANT && j < m->content_count; j++)
            n += m->content[j].kind == PHI_CONTENT_TOOL_CALL;
    }
    return n;
}

/* ---- ids ---- */

PHI__FN bool phi__groups_ids_make(phi_memory *memory, phi__ids *ids, size_t n) {
    ids->cap = 4;
    while (ids->cap / 2 < n && ids->cap <= SIZE_MAX / 4) ids->cap *= 2;
    ids->at = (phi__id *)phi__alloc(memory, phi__mul(ids->cap, sizeof *ids->at));
    return ids->at != NULL;
}

PHI__FN void phi__groups_ids_free(phi_memory *memory, phi__ids *ids) {
    phi__free(memory, ids->at, ids->at != NULL ? ids->cap * sizeof *ids->at : 0);
    ids->at = NULL;
}

static phi__id *phi__groups_place(const phi__ids *ids, phi_str id, uint64_t hash) {
    size_t at = (size_t)hash & (ids->cap - 1);
    while (ids->at[at].item != 0 &&
           (ids->at[at].hash != hash || !phi_str_equal(ids->at[at].id, id)))
        at = (at + 1) & (ids->cap - 1);
    return &ids->at[at];
}

PHI__FN void phi__groups_ids_put(phi__ids *ids, phi_str id, size_t item) {
    uint64_t hash = phi__hash(id, 0);
    phi__id *place = phi__groups_place(ids, id, hash);
    place->hash = hash;
    place->id = id;
    place->item = item + 1;
}

PHI__FN size_t phi__groups_ids_get(const phi__ids *ids, phi_str id) {
    return phi__groups_place(ids, id, phi__hash(id, 0))->item - 1;
}

/* ---- groups ---- */

PHI__FN size_t *phi__groups_find(phi_memory *memory, const void *at, size_t stride, size_t count) {
    size_t *callers = (size_t *)phi__alloc(memory, phi__mul(phi__max(count, 1), sizeof *callers));
    phi__groups_list list;
    phi__ids calls;
    list.at = at;
    list.stride = stride;
    list.count = count;
    if (!phi__groups_ids_make(memory, &calls, phi__groups_count(&list)) || callers == NULL) {
        phi__groups_free(memory, count, callers);
        phi__groups_ids_free(memory, &calls);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const phi_message *m = phi__groups_message(&list, i);
        callers[i] = SIZE_MAX;
        if (m->role == PHI_ROLE_TOOL_RESULT)
            callers[i] = phi__groups_ids_get(&calls, m->tool_call_id);
        else {
            for (size_t j = 0; m->role == PHI_ROLE_ASSISTANT && j < m->content_count; j++)
                if (m->content[j].kind == PHI_CONTENT_TOOL_CALL)
                    phi__groups_ids_put(&calls, m->content[j].id, i);
        }
    }
    phi__groups_ids_free(memory, &calls);
    return callers;
}

PHI__FN size_t *phi__groups_make(phi_memory *memory, const phi__fold *fold) {
    return phi__groups_find(memory, fold->items, sizeof *fold->items, fold->count);
}

PHI__FN void phi__groups_free(phi_memory *memory, size_t count, size_t *callers) {
    phi__free(memory, callers, callers != NULL ? phi__max(count, 1) * sizeof *callers : 0);
}

PHI__FN bool phi__groups_durable(phi_memory *memory, const phi__fold *fold, uint8_t **durable) {
    size_t i = 0;
    *durable = NULL;
    while (i < fold->count && (fold->items[i].flags & PHI_ENTRY_DURABLE) == 0) i++;
    if (i == fold->count) return true;
    size_t *callers = phi__groups_make(memory, fold);
    *durable = callers != NULL ? (uint8_t *)phi__alloc(memory, fold->count) : NULL;
    for (i = 0; *durable != NULL && i < fold->count; i++) {
        if ((fold->items[i].flags & PHI_ENTRY_DURABLE) == 0) continue;
        (*durable)[i] = 1;
        if (callers[i] != SIZE_MAX) (*durable)[callers[i]] = 1;
    }
    for (i = 0; *durable != NULL && i < fold->count; i++)
        if (callers[i] != SIZE_MAX && (*durable)[callers[i]] != 0) (*durable)[i] = 1;
    phi__groups_free(memory, fold->count, callers);
    return *durable != NULL;
}

PHI__FN bool phi__groups_same_ids(const phi_message *was, const phi_message *now) {
    size_t j = 0;
    if (was->role != now->role) return false;
    if (was->role == PHI_ROLE_TOOL_RESULT)
        return phi_str_equal(was->tool_call_id, now->tool_call_id);
    for (size_t i = 0; i < was->content_count; i++) {
        if (was->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        while (j < now->content_count && now->content[j].kind != PHI_CONTENT_TOOL_CALL) j++;
        if (j == now->content_count || !phi_str_equal(was->content[i].id, now->content[j].id))
            return false;
        j++;
    }
    return true;
}

/* ---- appends entries, and keeps the active lane's view up to date ---- */

PHI__FN bool phi__append_reserve(phi_thread *thread, size_t n, size_t messages) {
    if (n > 0 && !phi__log_reserve(&thread->log, n)) return false;
    if (messages == 0) return true;
    return phi__messages_room(thread->log.memory, &thread->messages, messages) &&
           phi__fold_room(thread->log.memory, &thread->fold, messages);
}

PHI__FN void phi__append_count_written(phi_thread *thread, const phi_usage *usage) {
    phi__message_add_usage(&thread->counted.usage, usage);
}

PHI__FN void phi__append_count_beside(phi_thread *thread, const phi_usage *usage) {
    phi__message_add_usage(&thread->counted.usage, usage);
    /* the active run, whose own usage has this in it, takes it off again when it ends */
    if (thread->loops.started != NULL) phi__message_add_usage(&thread->counted.of_turns, usage);
}

PHI__FN void phi__append_put(phi_thread *thread, phi__entry *entry) {
    phi__log_add(&thread->log, entry);
    entry->lane = thread->lanes.active;
    phi__counted *counted = &thread->counted;
    bool stray = entry->kind == PHI_ENTRY_TURN_END && thread->loops.started == NULL;
    if (entry->usage != NULL && !stray) {
        if (entry->kind == PHI_ENTRY_TURN_END)
            phi__message_add_usage(&counted->of_turns, entry->usage);
        if (entry->kind == PHI_ENTRY_LOOP_END) {
            phi_usage *from = &counted->usage;
            const phi_usage *part = &counted->of_turns;
            from->input -= part->input;
            from->output -= part->output;
            from->reasoning -= part->reasoning;
            from->cache_read -= part->cache_read;
            from->cache_write -= part->cache_write;
            from->total_tokens -= part->total_tokens;
        }
        if (entry->kind == PHI_ENTRY_FORGOTTEN) memset(&counted->usage, 0, sizeof counted->usage);
        phi__message_add_usage(&counted->usage, entry->usage);
    }
    if (entry->kind == PHI_ENTRY_LOOP_END || entry->kind == PHI_ENTRY_LOOP_START)
        memset(&counted->of_turns, 0, sizeof counted->of_turns);
    if (entry->kind == PHI_ENTRY_LOOP_END) {
        phi__runs_loop_ends(thread, entry);
    } else if (entry->kind == PHI_ENTRY_LOOP_START) {
        phi__loops_starts(thread, entry);
        phi__runs_drop_undo(thread);
    }
}

PHI__FN void phi__append_attach(phi_thread *thread, phi__entry *entries, size_t n) {
    for (size_t i = 0; i < n; i++) {
        phi__entry *entry = &entries[i];
        phi__append_put(thread, entry);
        if (entry->kind != PHI_ENTRY_MESSAGE) continue;
        phi__messages_add(&thread->messages, entry);
        phi__fold_message(&thread->fold, entry);
    }
    phi__log_grew(&thread->log);
}

/* Beside the entry's own room. */
static bool phi__append_allowed(phi_thread *thread, const phi__entry *entry) {
    if (entry->kind == PHI_ENTRY_LOOP_START) return phi__loops_room(thread);
    return entry->kind != PHI_ENTRY_LOOP_END || phi__runs_may_end(thread, entry) == PHI_OK;
}

PHI__FN bool phi__append(phi_thread *thread, const phi__entry *entries, size_t n) {
    size_t messages = 0;
    if (n == 0) return true;
    for (size_t i = 0; i < n; i++) {
        messages += entries[i].kind == PHI_ENTRY_MESSAGE;
        if (!phi__append_allowed(thread, &entries[i])) return false;
    }
    if (!phi__append_reserve(thread, n, messages)) return false;
    phi__entry *kept =
        (phi__entry *)phi_arena_alloc(phi__thread_room(thread), phi__mul(n, sizeof *kept));
    if (kept == NULL) return false;
    memcpy(kept, entries, n * sizeof *kept);
    phi__append_attach(thread, kept, n);
    return true;
}

PHI__FN phi_message *phi__append_keep(phi_thread *thread, const phi_message *message) {
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    phi_message *kept = phi_message_copy(message, room);
    if (kept == NULL) phi_arena_reset(room, mark);
    return kept;
}

/* Puts the results from `first` on into a list. False: no memory. */
static bool phi__append_results(const phi_thread *thread, size_t first, phi__ids *results) {
    const phi__fold *fold = &thread->fold;
    if (!phi__groups_ids_make(thread->log.memory, results, fold->count - first)) return false;
    for (; first < fold->count; first++)
        phi__groups_ids_put(results, fold->items[first].message->tool_call_id, first);
    return true;
}

/* Answers the calls that have no result. Results mostly are in call order; the list of them is made
   when one is not. */
static bool phi__append_answers(phi_thread *thread, const phi_texts *texts,
                                const phi_message *caller, size_t first, phi__ids *results) {
    size_t end = thread->fold.count, next = first;
    for (size_t i = 0; i < caller->content_count; i++) {
        phi_str id = caller->content[i].id;
        if (caller->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        if (next < end && phi_str_equal(thread->fold.items[next].message->tool_call_id, id)) {
            next++;
            continue;
        }
        if (results->at == NULL && !phi__append_results(thread, first, results)) return false;
        if (phi__groups_ids_get(results, id) < end) continue;
        phi_content content = PHI_ZERO;
        phi_message result = PHI_ZERO;
        phi__entry entry = PHI_ZERO;
        content.kind = PHI_CONTENT_TEXT;
        content.text = phi_str_of(phi__texts_get(
            texts, thread->loops.restored ? PHI_TEXT_RESULT_LOST : PHI_TEXT_RESULT_NO_MEMORY));
        result.role = PHI_ROLE_TOOL_RESULT;
        result.content = &content;
        result.content_count = 1;
        result.tool_call_id = caller->content[i].id;
        result.tool_name = caller->content[i].name;
        result.is_error = true;
        result.timestamp_ms = entry.at_ms = phi__thread_now(thread);
        result.loop_id = caller->loop_id;
        result.turn_index = entry.turn_index = caller->turn_index;
        entry.kind = PHI_ENTRY_MESSAGE;
        entry.message = phi__append_keep(thread, &result);
        if (entry.message == NULL) return false;
        entry.loop_id = entry.message->loop_id; /* the answer may be evicted before it */
        if (!phi__append(thread, &entry, 1)) return false;
    }
    return true;
}

/* Only calls in the view count: a call that a rewrite removed needs no result. */
PHI__FN bool phi__append_answer_orphans(phi_thread *thread, const phi_texts *texts) {
    size_t at = thread->fold.count;
    phi__ids results = PHI_ZERO;
    while (at > 0 && thread->fold.items[at - 1].message->role == PHI_ROLE_TOOL_RESULT) at--;
    if (at == 0 || thread->fold.items[at - 1].message->role != PHI_ROLE_ASSISTANT) return true;
    bool done =
        phi__append_answers(thread, texts, thread->fold.items[at - 1].message, at, &results);
    phi__groups_ids_free(thread->log.memory, &results);
    return done;
}

PHI__FN phi_status phi__append_claim_id(phi_thread *thread, phi_str id) {
    uint64_t hash = phi__hash(id, 0);
    if (phi__hashes_has(&thread->counted.ids, hash)) return PHI_FULL;
    if (!phi__hashes_room(thread->log.memory, &thread->counted.ids, 1)) return PHI_NO_MEMORY;
    phi__hashes_add(&thread->counted.ids, hash);
    return PHI_OK;
}

PHI__FN bool phi__append_claim_calls(phi_thread *thread, const phi_message *message) {
    for (size_t i = 0; message->role == PHI_ROLE_ASSISTANT && i < message->content_count; i++)
        if (message->content[i].kind == PHI_CONTENT_TOOL_CALL &&
            phi__append_claim_id(thread, message->content[i].id) == PHI_NO_MEMORY)
            return false;
    return true;
}

static bool phi__append_claim_all(phi_thread *thread) {
    size_t j, k;
    for (size_t i = 0; i < thread->log.held; i++) {
        const phi__entry *entry = thread->log.entries[i];
        if (entry->kind == PHI_ENTRY_MESSAGE && !phi__append_claim_calls(thread, entry->message))
            return false;
        if (entry->kind != PHI_ENTRY_REWRITE) continue;
        const phi_rewrite *r = &entry->of.op->rewrite;
        for (j = 0; j < r->span_count; j++)
            for (k = 0; k < r->spans[j].message_count; k++)
                if (!phi__append_claim_calls(thread, &r->spans[j].messages[k])) return false;
    }
    return true;
}

PHI__FN void phi__append_shed_ids(phi_thread *thread) {
    if (thread->log.segments.limit_bytes == 0) return;
    phi__hashes other = PHI_ZERO;
    phi__hashes_exchange(&thread->counted.ids, &other);
    if (!phi__append_claim_all(thread)) phi__hashes_exchange(&thread->counted.ids, &other);
    phi__hashes_free(thread->log.memory, &other);
}

PHI__FN void phi__append_free(phi_thread *thread) {
    phi__hashes_free(thread->log.memory, &thread->counted.ids);
}

PHI__FN bool phi__append_note_run(phi_thread *thread, const phi_loop_info *info, int64_t started_ms,
                                  int64_t ended_ms, phi_status status) {
    bool restored = thread->loops.restored, done = false;
    if (!phi__thread_roll(thread, NULL)) return false;
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    phi_loop_info *kept = phi__loops_copy_info(room, info);
    phi__entry entries[2] = PHI_ZERO;
    if (kept != NULL) {
        entries[0].kind = PHI_ENTRY_LOOP_START;
        entries[1].kind = PHI_ENTRY_LOOP_END;
        entries[0].loop_id = entries[1].loop_id = kept->loop_id;
        entries[0].of.loop = kept;
        entries[0].at_ms = started_ms;
        entries[1].at_ms = ended_ms;
        entries[1].status = status;
        done = phi__append(thread, entries, 2);
    }
    phi__loops_set_restored(thread, restored); /* it answers nothing here */
    if (!done) phi_arena_reset(room, mark);
    return done;
}
