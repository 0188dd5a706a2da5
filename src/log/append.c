/* append.c - appends entries to a thread, and updates everything that depends on them: the list of
   messages, the tables of runs and rewrites, the tool state, lanes and the active view.

   A lane is its parent's view at one entry, followed by its own entries. The default lane always
   exists; the table of lanes is made when a second lane begins. */
#include "log/thread_in.h"

/* ---- the MESSAGE entries of the active lane, in order ---- */

/* Adds a message and sets its index. Room was reserved. */
static void phi__messages_add(phi__messages *messages, phi__entry *entry) {
    entry->ordinal = messages->count++;
    messages->at[messages->held++] = entry;
    if (entry->message->role == PHI_ROLE_USER && !entry->message->is_update)
        messages->last_user = entry->seq + 1;
}

static void phi__messages_free(phi_memory *memory, phi__messages *messages) {
    phi__free(memory, messages->at, messages->cap * sizeof *messages->at);
    memset(messages, 0, sizeof *messages);
}

/* ---- rewrites by id, and the compactions that are not revoked ---- */

PHI__FN phi__op *phi__ops_find(const phi_thread *thread, phi_str op_id) {
    uint64_t hash = phi__hash(op_id, 0);
    size_t probe = 0;
    phi__op *op;
    while ((op = (phi__op *)phi__map_each(&thread->ops.by_id, hash, &probe)) != NULL)
        if (phi__str_is(op_id, op->rewrite.op_id)) return op;
    return NULL;
}

PHI__FN bool phi__ops_roll_back(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to) {
    bool any = false;
    for (phi__op *op = thread->ops.last; op != NULL && op->seq > from; op = op->earlier) {
        if (op->seq > to || op->lane != lane || op->rewrite.revoke != NULL || op->revoked) continue;
        op->revoked = any = true;
        op->revoked_at = to;
    }
    return any;
}

PHI__FN void phi__ops_unmark(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to) {
    size_t n = 0;
    for (size_t i = 0; i < thread->ops.compaction_count; i++) {
        const phi__compaction_mark *mark = &thread->ops.compactions[i];
        if (mark->lane != lane || mark->seq < from || mark->seq > to)
            thread->ops.compactions[n++] = *mark;
    }
    thread->ops.compaction_count = n;
}

/* ---- the tool state of the active lane ---- */

/* A run that may keep nothing saves the tool state that was valid before the run, so the end of the
   run needs no memory. */

PHI__FN void phi__state_drop(phi_memory *memory, phi__state_text *text) {
    phi__free(memory, text->at, text->at != NULL ? text->len + 1 : 0);
    memset(text, 0, sizeof *text);
}

/* Updates the state when a run ends. `start`: the seq of its LOOP_START plus 1. none: the run keeps
   nothing, so the state before it is restored. */
static void phi__state_run_ended(phi_thread *thread, uint64_t start, bool none) {
    phi__tool_state *state = &thread->state;
    if (start == 0 || state->run != start) return;
    state->run = 0;
    if (none && state->known) {
        phi__state_drop(thread->log.memory, &state->now);
        state->now = state->before;
        memset(&state->before, 0, sizeof state->before);
    }
    phi__state_drop(thread->log.memory, &state->before);
}

/* ---- runs by id, with their starts; and the state of the active run ---- */

PHI__FN phi__loop_start *phi__loops_place(phi__loop_start *table, size_t cap, uint64_t hash) {
    size_t at = (size_t)hash & (cap - 1);
    while (table[at].hash != 0 && table[at].hash != hash) at = (at + 1) & (cap - 1);
    return &table[at];
}

PHI__FN phi__loop_start *phi__loops_find(const phi_thread *thread, phi_str loop_id) {
    if (thread->loops.cap == 0) return NULL;
    phi__loop_start *place = phi__loops_place(thread->loops.at, thread->loops.cap,
                                              phi__hash_filled(phi__hash(loop_id, 0)));
    return place->hash != 0 ? place : NULL;
}

typedef struct phi__loops_told {
    bool (*saw_fn)(void *user_data, phi_str loop_id);
    void *user_data;
    phi_str last; /* the last id that was passed to saw_fn; messages of a turn repeat it */
} phi__loops_told;

static bool phi__loops_tell(phi__loops_told *to, phi_str loop_id) {
    if (loop_id.len == 0 || loop_id.at == to->last.at || phi_str_equal(loop_id, to->last))
        return true;
    to->last = loop_id;
    return to->saw_fn(to->user_data, loop_id);
}

PHI__FN bool phi__loops_visit(phi_thread *thread, uint64_t reader,
                              bool (*saw_fn)(void *user_data, phi_str loop_id), void *user_data) {
    phi__loops *loops = &thread->loops;
    uint64_t from = loops->told_to == reader ? loops->told : 0;
    size_t i = thread->log.held;
    phi__loops_told to = PHI_ZERO;
    to.saw_fn = saw_fn;
    to.user_data = user_data;
    while (i > 0 && thread->log.entries[i - 1]->seq >= from) {
        const phi__entry *entry = thread->log.entries[--i];
        const phi_rewrite *rewrite = NULL;
        bool ok = true;
        if (entry->kind == PHI_ENTRY_LOOP_START) ok = phi__loops_tell(&to, entry->loop_id);
        if (entry->kind == PHI_ENTRY_MESSAGE)
            ok = phi__loops_tell(&to,
                                 entry->loop_id.len > 0 ? entry->loop_id : entry->message->loop_id);
        if (entry->kind == PHI_ENTRY_REWRITE && entry->of.op != NULL)
            rewrite = &entry->of.op->rewrite;
        for (size_t s = 0; rewrite != NULL && s < rewrite->span_count; s++)
            for (size_t m = 0; ok && m < rewrite->spans[s].message_count; m++)
                ok = phi__loops_tell(&to, rewrite->spans[s].messages[m].loop_id);
        if (!ok) return false;
    }
    loops->told = thread->log.count;
    loops->told_to = reader;
    return true;
}

PHI__FN phi_loop_info *phi__loops_copy_info(phi_arena *arena, const phi_loop_info *from) {
    phi_loop_info *info = (phi_loop_info *)phi_arena_alloc(arena, sizeof *info);
    if (info == NULL) return NULL;
    *info = *from;
    return phi__arena_str(arena, from->loop_id, &info->loop_id) &&
                   phi__arena_str(arena, from->agent_id, &info->agent_id) &&
                   phi__arena_str(arena, from->session_id, &info->session_id) &&
                   phi__arena_str(arena, from->parent_loop_id, &info->parent_loop_id) &&
                   phi__arena_str(arena, from->tag, &info->tag) &&
                   phi__arena_str(arena, from->metadata, &info->metadata) &&
                   phi__arena_str(arena, from->config, &info->config) &&
                   phi__arena_str(arena, from->system_prompt, &info->system_prompt)
               ? info
               : NULL;
}

static uint64_t phi__loops_prompt_hash(phi_str prompt) {
    return phi__hash_filled(phi__hash(prompt, 3));
}

PHI__FN bool phi__loops_info_prompt(const phi_thread *thread, phi_arena *arena, phi_str prompt,
                                    phi_loop_info *info) {
    info->system_prompt = phi__str("", 0);
    info->has_system_prompt = thread->loops.prompt_hash != 0 || prompt.len > 0;
    if (info->has_system_prompt && phi__loops_prompt_hash(prompt) == thread->loops.prompt_hash)
        info->has_system_prompt = false;
    return !info->has_system_prompt || phi__arena_str(arena, prompt, &info->system_prompt);
}

PHI__FN bool phi__loops_room(phi_thread *thread) {
    phi__loops *loops = &thread->loops;
    size_t cap = phi__max(loops->cap * 2, 8);
    if (loops->count < loops->cap / 2) return true;
    phi__loop_start *table =
        (phi__loop_start *)phi__alloc(thread->log.memory, phi__mul(cap, sizeof *table));
    if (table == NULL) return false;
    for (size_t i = 0; i < loops->cap; i++)
        if (loops->at[i].hash != 0) *phi__loops_place(table, cap, loops->at[i].hash) = loops->at[i];
    phi__free(thread->log.memory, loops->at, loops->cap * sizeof *table);
    loops->at = table;
    loops->cap = cap;
    return true;
}

/* Records the start of a run by its LOOP_START entry, whose seq is set. Room was reserved. */
static void phi__loops_note(phi_thread *thread, const phi__entry *start) {
    phi__loops *loops = &thread->loops;
    phi__loop_start *place = phi__loops_find(thread, start->loop_id);
    if (place == NULL) {
        uint64_t hash = phi__hash_filled(phi__hash(start->loop_id, 0));
        if (loops->count >= loops->cap / 2) return; /* happens only if no room was reserved */
        place = phi__loops_place(loops->at, loops->cap, hash);
        place->hash = hash;
        loops->count++;
    }
    place->seq = start->seq + 1;
}

/* Sets the ordinal of a LOOP_END entry when the entry is attached. */
static void phi__loops_end(phi_thread *thread, phi__entry *end) {
    phi__loop_start *start = phi__loops_find(thread, end->loop_id);
    end->ordinal = start != NULL ? (size_t)start->seq : 0;
    if (start != NULL) start->seq = 0;
}

/* ---- the end of a run, and the rollback of a run that keeps nothing ---- */

/* A run that keeps nothing is rolled back as a whole: its messages leave the view, and its rewrites
   count as revoked at its end. The lane's view is then as before the run. The run saves a copy of
   that view before its first rewrite, so its end needs no memory. If there is no copy, as in a log
   that was read, the lane is folded again. */

PHI__FN void phi__runs_drop_undo(phi_thread *thread) {
    phi__fold_free(thread->log.memory, &thread->undo.fold);
    memset(&thread->undo, 0, sizeof thread->undo);
}

PHI__FN bool phi__runs_keep_undo(phi_thread *thread) {
    if (!thread->loops.keeps_none || thread->loops.started == NULL || thread->undo.start != 0 ||
        thread->ops.last_seq > thread->loops.started->seq)
        return true;
    if (!phi__fold_copy(thread->log.memory, &thread->undo.fold, &thread->fold)) return false;
    thread->undo.start = thread->loops.started->seq + 1;
    thread->undo.lane = thread->lanes.active;
    return true;
}

/* Returns the seq of the run's LOOP_START plus 1; 0: there is no such run, or it has ended. */
static uint64_t phi__runs_start(const phi_thread *thread, const phi__entry *end) {
    const phi__loop_start *start = phi__loops_find(thread, end->loop_id);
    return start != NULL ? start->seq : 0;
}

static bool phi__runs_has_undo(const phi_thread *thread, uint64_t start) {
    return thread->undo.start == start && thread->undo.lane == thread->lanes.active;
}

/* Builds the lane's view without the run's rewrites, and saves it as the undo. The rewrites count
   as rolled back only during this call, because the run's end may fail to be appended. */
static phi_status phi__runs_fold_anew(phi_thread *thread, uint64_t start) {
    phi__fold fold;
    if (!phi__ops_roll_back(thread, thread->lanes.active, start - 1, thread->log.count))
        return PHI_OK;
    phi_status status = phi__fold_lane(thread, thread->lanes.active, UINT64_MAX, &fold);
    for (phi__op *op = thread->ops.last; op != NULL && op->seq >= start; op = op->earlier)
        if (op->revoked && op->revoked_at == thread->log.count) op->revoked = false;
    if (status != PHI_OK) return status;
    phi__runs_drop_undo(thread);
    phi__fold_move(thread->log.memory, &thread->undo.fold, &fold);
    thread->undo.start = start;
    thread->undo.lane = thread->lanes.active;
    return PHI_OK;
}

PHI__FN bool phi__runs_end_folds(const phi_thread *thread, const phi__entry *end) {
    if (end->keep != PHI_KEEP_NONE) return false;
    uint64_t start = phi__runs_start(thread, end);
    return start != 0 && !phi__runs_has_undo(thread, start) && thread->ops.last_seq >= start;
}

/* Prepares the rollback of a run, if it needs one, before its LOOP_END is attached. */
static phi_status phi__runs_may_end(phi_thread *thread, const phi__entry *end) {
    return phi__runs_end_folds(thread, end)
               ? phi__runs_fold_anew(thread, phi__runs_start(thread, end))
               : PHI_OK;
}

static void phi__runs_loop_ends(phi_thread *thread, phi__entry *end) {
    phi__loops_end(thread, end);
    thread->loops.started = NULL;
    if (end->keep == PHI_KEEP_NONE && end->ordinal > 0) {
        uint64_t start = (uint64_t)end->ordinal;
        (void)phi__ops_roll_back(thread, end->lane, start - 1, end->seq);
        phi__ops_unmark(thread, end->lane, start - 1, end->seq);
        if (phi__runs_has_undo(thread, start)) {
            phi__fold_move(thread->log.memory, &thread->fold, &thread->undo.fold);
            memset(&thread->undo, 0, sizeof thread->undo);
        }
        phi__fold_take_out(&thread->fold, start - 1, end->seq);
        phi__thread_evictable(thread);
    }
    phi__state_run_ended(thread, end->ordinal, end->keep == PHI_KEEP_NONE);
    phi__runs_drop_undo(thread);
}

/* ---- appending ---- */

PHI__FN bool phi__append_reserve(phi_thread *thread, size_t n, size_t messages) {
    if (n > 0 && !phi__log_reserve(&thread->log, n)) return false;
    if (messages == 0) return true;
    phi__messages *list = &thread->messages;
    void *grown = phi__grow(thread->log.memory, list->at, &list->cap,
                            phi__add(list->held, messages), sizeof *list->at);
    if (grown == NULL) return false;
    list->at = (phi__entry **)grown;
    return phi__fold_room(thread->log.memory, &thread->fold, messages);
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
        const phi_loop_info *info = entry->of.loop;
        phi__loops_note(thread, entry);
        if (info != NULL && info->has_system_prompt)
            thread->loops.prompt_hash = phi__loops_prompt_hash(info->system_prompt);
        thread->loops.restored = false;
        thread->loops.started = entry;
        phi__runs_drop_undo(thread);
    }
}

PHI__FN void phi__graft_put(phi_thread *thread, phi__entry *entry) {
    entry->flags |= (uint32_t)PHI_ENTRY_GRAFTED;
    phi__log_add(&thread->log, entry);
    if (entry->kind == PHI_ENTRY_LOOP_START) phi__loops_note(thread, entry);
    if (entry->kind != PHI_ENTRY_LOOP_END) return;
    phi__loops_end(thread, entry);
    if (entry->usage == NULL) return;
    phi__message_add_usage(&thread->counted.usage, entry->usage);
    /* When the active run ends, it adds its usage except of_turns. So this usage counts once. */
    if (thread->loops.started != NULL)
        phi__message_add_usage(&thread->counted.of_turns, entry->usage);
}

PHI__FN void phi__append_attach(phi_thread *thread, phi__entry *entries, size_t n) {
    for (size_t i = 0; i < n; i++) {
        phi__entry *entry = &entries[i];
        phi__append_put(thread, entry);
        if (entry->kind != PHI_ENTRY_MESSAGE) continue;
        phi__messages_add(&thread->messages, entry);
        phi__fold_put(&thread->fold, entry);
    }
    phi__log_grew(&thread->log);
}

PHI__FN bool phi__append(phi_thread *thread, const phi__entry *entries, size_t n) {
    size_t messages = 0;
    if (n == 0) return true;
    for (size_t i = 0; i < n; i++) {
        messages += entries[i].kind == PHI_ENTRY_MESSAGE;
        if (entries[i].kind == PHI_ENTRY_LOOP_START && !phi__loops_room(thread)) return false;
        if (entries[i].kind == PHI_ENTRY_LOOP_END &&
            phi__runs_may_end(thread, &entries[i]) != PHI_OK)
            return false;
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
    thread->loops.restored = restored; /* a noted run answers no lost calls, so the flag stays */
    if (!done) phi_arena_reset(room, mark);
    return done;
}

/* ---- tool call ids, and calls without a result ---- */

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

/* Puts the results at item `first` and after it into a table. False: no memory. */
static bool phi__append_results(phi_memory *memory, const phi__fold *fold, size_t first,
                                phi__ids *results) {
    if (!phi__groups_ids_make(memory, results, fold->count - first)) return false;
    for (; first < fold->count; first++)
        if (fold->items[first].message->role == PHI_ROLE_TOOL_RESULT)
            phi__groups_ids_put(results, fold->items[first].message->tool_call_id, first);
    return true;
}

/* Answers the calls that have no result. A table of the results is made at the first call whose
   result is not the next item. */
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
        if (results->at == NULL &&
            !phi__append_results(thread->log.memory, &thread->fold, first, results))
            return false;
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
        /* The loop id must not point into the answer, which may be evicted earlier. */
        entry.loop_id = entry.message->loop_id;
        if (!phi__append(thread, &entry, 1)) return false;
    }
    return true;
}

/* Only calls in the view count. A call that a rewrite removed needs no result. */
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

/* ---- lanes ---- */

PHI__FN phi_str phi__lane_name(const phi_thread *thread, uint32_t lane) {
    if (thread->lanes.at == NULL) return lane == 0 ? PHI__LIT(PHI_LANE_DEFAULT) : phi__str("", 0);
    return lane < thread->lanes.count ? thread->lanes.at[lane].name : phi__str("", 0);
}

PHI__FN uint32_t phi__lane_find(const phi_thread *thread, phi_str name) {
    const phi__lanes *lanes = &thread->lanes;
    uint64_t hash = phi__hash(name, 0);
    uintptr_t number; /* lane number plus 1 */
    size_t probe = 0;
    if (phi_str_equal(phi__lane_name(thread, lanes->active), name)) return lanes->active;
    while ((number = (uintptr_t)phi__map_each(&lanes->by_name, hash, &probe)) != 0)
        if (phi_str_equal(lanes->at[number - 1].name, name)) return (uint32_t)(number - 1);
    return PHI__LANE_NONE;
}

static void phi__lane_index(phi_thread *thread, uint32_t lane) {
    phi__map_add(&thread->lanes.by_name, phi__hash(thread->lanes.at[lane].name, 0),
                 (void *)((uintptr_t)lane + 1));
}

static bool phi__lane_table(phi_thread *thread) {
    size_t cap = thread->lanes.cap, count = phi__thread_lanes(thread);
    if (count > PHI__LANE_NONE / 2) return false; /* doubled below, to PHI__LANE_NONE at most */
    phi__lane *lanes = (phi__lane *)phi__grow(thread->log.memory, thread->lanes.at, &cap, count + 1,
                                              sizeof *lanes);
    if (lanes == NULL) return false;
    if (thread->lanes.at == NULL) {
        memset(&lanes[0], 0, sizeof lanes[0]);
        lanes[0].name = PHI__LIT(PHI_LANE_DEFAULT);
        lanes[0].parent = PHI__LANE_NONE;
        thread->lanes.count = 1;
    }
    thread->lanes.at = lanes;
    thread->lanes.cap = (uint32_t)cap;
    return phi__map_reserve(&thread->lanes.by_name, (size_t)thread->lanes.count + 1);
}

PHI__FN phi__entry *phi__lane_entries(phi_thread *thread, size_t n) {
    if (!phi__append_reserve(thread, n, 0)) return NULL;
    phi__entry *entries =
        (phi__entry *)phi__arena_zero(phi__thread_room(thread), n * sizeof *entries);
    for (size_t i = 0; entries != NULL && i < n; i++) entries[i].at_ms = phi__thread_now(thread);
    return entries;
}

PHI__FN void phi__lane_append(phi_thread *thread, phi__entry *entry, phi_entry_kind kind,
                              uint32_t lane) {
    entry->kind = kind;
    phi__append_attach(thread, entry, 1);
    entry->lane = lane;
}

/* Appends the entry of a new lane and reserves `more` entries after it. NULL: no memory. */
static phi__entry *phi__lane_begin(phi_thread *thread, phi_str name, uint32_t parent,
                                   uint64_t fork_seq, size_t more) {
    char *copy = (char *)phi__alloc(thread->log.memory, phi__add(name.len, 1));
    phi__entry *entries = NULL;
    if (copy != NULL && phi__lane_table(thread)) entries = phi__lane_entries(thread, 1 + more);
    if (entries == NULL) {
        phi__free(thread->log.memory, copy, copy != NULL ? name.len + 1 : 0);
        return NULL;
    }
    memcpy(copy, name.at, name.len);
    phi__lane *made = &thread->lanes.at[thread->lanes.count];
    made->name = phi__str(copy, name.len);
    made->parent = parent;
    made->fork_seq = fork_seq;
    made->seq = thread->log.count;
    /* index the default lane too */
    if (thread->lanes.by_name.count == 0) phi__lane_index(thread, 0);
    phi__lane_index(thread, thread->lanes.count);
    phi__lane_append(thread, entries, PHI_ENTRY_LANE, thread->lanes.count++);
    return entries;
}

PHI__FN phi_status phi__lane_new(phi_thread *thread, phi_str name, uint32_t parent,
                                 uint64_t fork_seq, uint32_t *lane) {
    *lane = (uint32_t)phi__thread_lanes(thread);
    return phi__lane_begin(thread, name, parent, fork_seq, 0) != NULL ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN phi__entry *phi__lane_message(const phi_thread *thread, size_t i) {
    size_t from = 0, to = thread->messages.held;
    if (i >= thread->messages.count) return NULL;
    if (thread->messages.held == thread->messages.count) return thread->messages.at[i];
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (thread->messages.at[middle]->ordinal < i)
            from = middle + 1;
        else
            to = middle;
    }
    return from < thread->messages.held && thread->messages.at[from]->ordinal == i
               ? thread->messages.at[from]
               : NULL;
}

PHI__FN bool phi__lane_messages(phi_thread *thread, uint32_t lane) {
    phi__limit *limits = phi__fold_limits(thread, lane, UINT64_MAX);
    size_t lanes = phi__thread_lanes(thread), n = 0, i;
    phi__entry **list = NULL;
    for (size_t pass = 0; limits != NULL && pass < 2; pass++) {
        if (pass == 1)
            list = (phi__entry **)phi__alloc(thread->log.memory,
                                             phi__mul(phi__max(n, 1), sizeof *list));
        if (pass == 1 && list == NULL) break;
        for (i = n = 0; i < thread->log.held; i++) {
            phi__entry *entry = thread->log.entries[i];
            if (entry->kind != PHI_ENTRY_MESSAGE || !limits[entry->lane].any ||
                entry->seq > limits[entry->lane].seq)
                continue;
            if (list != NULL) { /* a grafted entry has no index yet */
                list[n] = entry;
                entry->ordinal = n;
            }
            n++;
        }
    }
    phi__free(thread->log.memory, limits, limits != NULL ? lanes * sizeof *limits : 0);
    if (list == NULL) return false;
    phi__messages *messages = &thread->messages;
    phi__messages_free(thread->log.memory, messages);
    messages->at = list;
    messages->count = messages->held = n;
    messages->cap = phi__max(n, 1);
    for (i = n; i > 0 && messages->last_user == 0; i--)
        if (list[i - 1]->message->role == PHI_ROLE_USER && !list[i - 1]->message->is_update)
            messages->last_user = list[i - 1]->seq + 1;
    return true;
}

PHI__FN void phi__lane_enter(phi_thread *thread, uint32_t lane, phi__fold *fold) {
    thread->lanes.active = lane;
    thread->state.known = false;
    if (fold != NULL) {
        phi__fold_move(thread->log.memory, &thread->fold, fold);
        return;
    }
    phi__fold_clear(&thread->fold);
    thread->messages.count = thread->messages.held = 0;
    thread->messages.last_user = 0;
}

PHI__FN phi_status phi__lane_switch(phi_thread *thread, uint32_t lane) {
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    phi__fold fold;
    if (lane == thread->lanes.active) return PHI_OK;
    phi_status status = phi__fold_lane(thread, lane, UINT64_MAX, &fold);
    if (status != PHI_OK) return status;
    phi__entry *entry = phi__lane_entries(thread, 1);
    if (entry == NULL || !phi__lane_messages(thread, lane)) {
        phi__fold_free(thread->log.memory, &fold);
        phi_arena_reset(room, mark);
        return PHI_NO_MEMORY;
    }
    phi__lane_enter(thread, lane, &fold);
    phi__lane_append(thread, entry, PHI_ENTRY_SWITCH, lane);
    phi__thread_evictable(thread);
    return PHI_OK;
}

PHI__FN phi_status phi__lane_switch_new(phi_thread *thread, phi_str name) {
    phi__entry *entries = phi__lane_begin(thread, name, PHI__LANE_NONE, 0, 1);
    if (entries == NULL) return PHI_NO_MEMORY;
    phi__lane_enter(thread, thread->lanes.count - 1, NULL);
    phi__lane_append(thread, &entries[1], PHI_ENTRY_SWITCH, thread->lanes.active);
    phi__thread_evictable(thread);
    return PHI_OK;
}

/* ---- where a lane may fork ---- */

/* Sets *open to the index of the fold's last answer if one of its calls has no result in the fold,
   else to SIZE_MAX. False: no memory. */
static bool phi__lane_open_group(phi_memory *memory, const phi__fold *fold, size_t *open) {
    size_t at = fold->count;
    phi__ids results;
    *open = SIZE_MAX;
    while (at > 0 && fold->items[at - 1].message->role != PHI_ROLE_ASSISTANT) at--;
    if (at == 0) return true;
    const phi_message *answer = fold->items[at - 1].message;
    if (!phi__append_results(memory, fold, at, &results)) return false;
    for (size_t i = 0; i < answer->content_count; i++) {
        const phi_content *c = &answer->content[i];
        if (phi__codec_is_call(c) && phi__groups_ids_get(&results, c->id) == SIZE_MAX)
            *open = at - 1;
    }
    phi__groups_ids_free(memory, &results);
    return true;
}

PHI__FN phi_status phi__lane_cut(const phi_thread *thread, uint32_t lane, uint64_t at,
                                 uint64_t *out, bool *any) {
    phi__fold made;
    const phi__fold *fold;
    phi_status status = phi__fold_at(thread, lane, at, &made, &fold);
    size_t open;
    if (status != PHI_OK) return status;
    if (!phi__lane_open_group(thread->log.memory, fold, &open)) {
        phi__fold_free(thread->log.memory, &made);
        return PHI_NO_MEMORY;
    }
    *out = at < thread->log.count ? at : (uint64_t)thread->log.count - 1;
    *any = thread->log.count > 0 && fold->count > 0;
    if (open != SIZE_MAX) {
        *any = open > 0 && fold->items[open].from > 0;
        *out = fold->items[open].from > 0 ? fold->items[open].from - 1 : UINT64_MAX;
    }
    phi__fold_free(thread->log.memory, &made);
    return PHI_OK;
}

/* ---- freeing ---- */

PHI__FN void phi__append_free(phi_thread *thread) {
    phi_memory *memory = thread->log.memory;
    phi__lanes *lanes = &thread->lanes;
    phi__ops *ops = &thread->ops;
    for (uint32_t i = 1; i < lanes->count; i++) /* the first lane's name is static */
        phi__free(memory, (void *)(uintptr_t)lanes->at[i].name.at, lanes->at[i].name.len + 1);
    phi__map_free(&lanes->by_name);
    phi__free(memory, lanes->at, lanes->cap * sizeof *lanes->at);
    phi__messages_free(memory, &thread->messages);
    phi__free(memory, thread->loops.at, thread->loops.cap * sizeof *thread->loops.at);
    phi__runs_drop_undo(thread);
    phi__state_drop(memory, &thread->state.now);
    phi__state_drop(memory, &thread->state.before);
    phi__hashes_free(memory, &ops->away);
    phi__map_free(&ops->by_id);
    phi__free(memory, ops->compactions, ops->compaction_cap * sizeof *ops->compactions);
    phi__hashes_free(memory, &thread->counted.ids);
}
