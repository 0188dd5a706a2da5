/* append.c - appends entries, and keeps the active lane's view up to date. */
#include "log/thread_in.h"

/* ---- results and the answers with their calls ---- */

/* ---- ids ---- */

/* ---- groups ---- */

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
