/* parts.c - parts of a thread that its entries add to: runs by id, messages, rewrites by id and the
   tool state. */
#include "log/thread_in.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>

static uint64_t phi__loops_hash(phi_str loop_id) {
    uint64_t hash = phi__hash(loop_id, 0);
    return hash != 0 ? hash : 1;
}

/* The place of a run's start, or the free place for it. */
static phi__loop_start *phi__loops_place(phi__loop_start *table, size_t cap, uint64_t hash) {
    size_t at = (size_t)hash & (cap - 1);
    while (table[at].hash != 0 && table[at].hash != hash) at = (at + 1) & (cap - 1);
    return &table[at];
}

static phi__loop_start *phi__loops_known(const phi_thread *thread, phi_str loop_id) {
    if (thread->loops.cap == 0) return NULL;
    phi__loop_start *place =
        phi__loops_place(thread->loops.at, thread->loops.cap, phi__loops_hash(loop_id));
    return place->hash != 0 ? place : NULL;
}

PHI__FN const phi__loop_start *phi__loops_find(const phi_thread *thread, phi_str loop_id) {
    return phi__loops_known(thread, loop_id);
}

PHI__FN bool phi__loops_has(const phi_thread *thread, phi_str loop_id) {
    return phi__loops_find(thread, loop_id) != NULL;
}

typedef struct phi__loops_told {
    bool (*saw_fn)(void *user_data, phi_str loop_id);
    void *user_data;
    phi_str last; /* messages of a turn are adjacent */
} phi__loops_told;

static bool phi__loops_tell(phi__loops_told *to, phi_str loop_id) {
    if (loop_id.len == 0 || loop_id.at == to->last.at || phi_str_equal(loop_id, to->last))
        return true;
    to->last = loop_id;
    return to->saw_fn(to->user_data, loop_id);
}

static bool phi__loops_tell_rewrite(phi__loops_told *to, const phi_rewrite *rewrite) {
    size_t j;
    for (size_t i = 0; i < rewrite->span_count; i++)
        for (j = 0; j < rewrite->spans[i].message_count; j++)
            if (!phi__loops_tell(to, rewrite->spans[i].messages[j].loop_id)) return false;
    return true;
}

static bool phi__loops_tell_entry(phi__loops_told *to, const phi__entry *entry) {
    switch ((int)entry->kind) {
    case PHI_ENTRY_LOOP_START: return phi__loops_tell(to, entry->loop_id);
    case PHI_ENTRY_REWRITE:
        return entry->of.op == NULL || phi__loops_tell_rewrite(to, &entry->of.op->rewrite);
    case PHI_ENTRY_MESSAGE: /* a run's share one string */
        return phi__loops_tell(to,
                               entry->loop_id.len > 0 ? entry->loop_id : entry->message->loop_id);
    default: return true;
    }
}

PHI__FN bool phi__loops_visit(phi_thread *thread, uint64_t reader,
                              bool (*saw_fn)(void *user_data, phi_str loop_id), void *user_data) {
    phi__loops *loops = &thread->loops;
    uint64_t from = loops->told_to == reader ? loops->told : 0;
    size_t i = thread->log.held;
    phi__loops_told to = PHI_ZERO;
    to.saw_fn = saw_fn;
    to.user_data = user_data;
    while (i > 0 && thread->log.entries[i - 1]->seq >= from)
        if (!phi__loops_tell_entry(&to, thread->log.entries[--i])) return false;
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
    uint64_t hash = phi__hash(prompt, 3);
    return hash != 0 ? hash : 1;
}

PHI__FN bool phi__loops_info_prompt(const phi_thread *thread, phi_arena *arena, phi_str prompt,
                                    phi_loop_info *info) {
    info->system_prompt = phi__str("", 0);
    info->has_system_prompt = thread->loops.prompt_hash != 0 || prompt.len > 0;
    if (info->has_system_prompt && phi__loops_prompt_hash(prompt) == thread->loops.prompt_hash)
        info->has_system_prompt = false;
    return !info->has_system_prompt || phi__arena_str(arena, prompt, &info->system_prompt);
}

/* Without memory for a smaller table the old one stays. */
PHI__FN void phi__loops_evict(phi_thread *thread) {
    phi__loops *loops = &thread->loops;
    size_t n = 0, cap = 8;
    for (size_t i = 0; i < thread->log.held; i++)
        n += thread->log.entries[i]->kind == PHI_ENTRY_LOOP_START;
    while (cap / 2 <= n) cap *= 2;
    if (cap >= loops->cap) return;
    phi__loop_start *table =
        (phi__loop_start *)phi__alloc(thread->log.memory, phi__mul(cap, sizeof *table));
    if (table == NULL) return;
    for (size_t i = n = 0; i < thread->log.held; i++) {
        const phi__loop_start *was = NULL;
        if (thread->log.entries[i]->kind == PHI_ENTRY_LOOP_START)
            was = phi__loops_find(thread, thread->log.entries[i]->loop_id);
        if (was == NULL) continue;
        phi__loop_start *now = phi__loops_place(table, cap, was->hash);
        n += now->hash == 0;
        *now = *was;
    }
    phi__free(thread->log.memory, loops->at, loops->cap * sizeof *table);
    loops->at = table;
    loops->cap = cap;
    loops->count = n;
    loops->away = true;
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

PHI__FN void phi__loops_note(phi_thread *thread, const phi__entry *start) {
    phi__loops *loops = &thread->loops;
    phi__loop_start *place = phi__loops_known(thread, start->loop_id);
    if (place == NULL && loops->count < loops->cap / 2) {
        uint64_t hash = phi__loops_hash(start->loop_id);
        place = phi__loops_place(loops->at, loops->cap, hash);
        place->hash = hash;
        loops->count++;
    }
    if (place != NULL) place->seq = start->seq + 1; /* its room was made */
}

PHI__FN void phi__loops_starts(phi_thread *thread, const phi__entry *start) {
    phi__loops_note(thread, start);
    if (start->of.loop != NULL && start->of.loop->has_system_prompt)
        thread->loops.prompt_hash = phi__loops_prompt_hash(start->of.loop->system_prompt);
    thread->loops.restored = false;
    thread->loops.started = (phi__entry *)(uintptr_t)start;
}

PHI__FN void phi__loops_ends_beside(phi_thread *thread, phi__entry *end) {
    phi__loop_start *start = phi__loops_known(thread, end->loop_id);
    end->ordinal = start != NULL ? (size_t)start->seq : 0;
    if (start != NULL) start->seq = 0;
}

PHI__FN void phi__loops_keep_none(phi_thread *thread, bool keeps_none) {
    thread->loops.keeps_none = keeps_none;
}

PHI__FN void phi__loops_set_restored(phi_thread *thread, bool restored) {
    thread->loops.restored = restored;
}

PHI__FN void phi__loops_free(phi__loops *loops, phi_memory *memory) {
    phi__free(memory, loops->at, loops->cap * sizeof *loops->at);
}

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

/* The seq of its LOOP_START, and 1; 0: none, or it has ended before. */
static uint64_t phi__runs_start(const phi_thread *thread, const phi__entry *end) {
    const phi__loop_start *start = phi__loops_find(thread, end->loop_id);
    return start != NULL ? start->seq : 0;
}

static bool phi__runs_has_undo(const phi_thread *thread, uint64_t start) {
    return thread->undo.start == start && thread->undo.lane == thread->lanes.active;
}

/* The lane without the rewrites of the run, into the undo. They count as rolled back for that
   moment alone: the end may not come to be appended. */
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

PHI__FN phi_status phi__runs_may_end(phi_thread *thread, const phi__entry *end) {
    return phi__runs_end_folds(thread, end)
               ? phi__runs_fold_anew(thread, phi__runs_start(thread, end))
               : PHI_OK;
}

PHI__FN void phi__runs_loop_ends(phi_thread *thread, phi__entry *end) {
    /* For a LOOP_END, when it is attached: its ordinal. Beside: of a run that was copied, so that
       the active run stays the active one. */
    phi__loops_ends_beside(thread, end);
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

PHI__FN void phi__runs_roll_back_again(phi_thread *thread) {
    for (size_t i = 0; i < thread->log.held; i++) {
        const phi__entry *end = thread->log.entries[i];
        if (end->kind == PHI_ENTRY_LOOP_END && end->keep == PHI_KEEP_NONE && end->ordinal > 0)
            (void)phi__ops_roll_back(thread, end->lane, (uint64_t)end->ordinal - 1, end->seq);
    }
}

PHI__FN void phi__ops_init(phi__ops *ops, phi_memory *memory) {
    phi__map_init(&ops->by_id, memory);
}

PHI__FN void phi__ops_free(phi__ops *ops, phi_memory *memory) {
    phi__hashes_free(memory, &ops->away);
    phi__map_free(&ops->by_id);
    phi__free(memory, ops->compactions, ops->compaction_cap * sizeof *ops->compactions);
}

PHI__FN phi__op *phi__ops_find(const phi_thread *thread, phi_str op_id) {
    uint64_t hash = phi__hash(op_id, 0);
    size_t probe = 0;
    phi__op *op;
    while ((op = (phi__op *)phi__map_each(&thread->ops.by_id, hash, &probe)) != NULL)
        if (phi__str_is(op_id, op->rewrite.op_id)) return op;
    return NULL;
}

PHI__FN bool phi__ops_index_all(phi_thread *thread) {
    phi__ops *ops = &thread->ops;
    size_t n = 0;
    for (size_t i = 0; i < thread->log.held; i++)
        n += thread->log.entries[i]->kind == PHI_ENTRY_REWRITE;
    if (!phi__map_reserve(&ops->by_id, n)) return false;
    phi__map_clear(&ops->by_id);
    ops->last = NULL;
    for (size_t i = 0; i < thread->log.held; i++) {
        phi__op *op = thread->log.entries[i]->of.op;
        if (thread->log.entries[i]->kind != PHI_ENTRY_REWRITE) continue;
        op->earlier = ops->last;
        ops->last = op;
        phi__map_add(&ops->by_id, op->id_hash, op);
    }
    return true;
}

PHI__FN bool phi__ops_compacts(const phi__op *op) {
    return op->rewrite.reason == PHI_REWRITE_COMPACTION && op->rewrite.revoke == NULL;
}

enum { PHI__MARKS_MOST = 64 };

/* Room for the mark of one more compaction. False: no memory. Where memory is limited, old ones are
   given up: they count only when all later ones were undone. */
PHI__FN bool phi__ops_mark_room(phi_thread *thread) {
    size_t half = PHI__MARKS_MOST / 2;
    if (thread->log.segments.limit_bytes != 0 && thread->lanes.at == NULL &&
        thread->ops.compaction_count == PHI__MARKS_MOST) {
        memmove(thread->ops.compactions, &thread->ops.compactions[half],
                half * sizeof *thread->ops.compactions);
        thread->ops.compaction_count = half;
    }
    void *grown =
        phi__grow(thread->log.memory, thread->ops.compactions, &thread->ops.compaction_cap,
                  phi__add(thread->ops.compaction_count, 1), sizeof *thread->ops.compactions);
    if (grown != NULL) thread->ops.compactions = (phi__compaction_mark *)grown;
    return grown != NULL;
}

/* Newest first: a run's own are in front. */
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

/* True if the id of an evicted rewrite must be kept, since a host could give it again; an id that
   phi made of the rewrite's seq need not. */
static bool phi__ops_keeps_id(const phi__op *op) {
    char made[PHI__OP_MADE_SIZE];
    (void)snprintf(made, sizeof made, PHI__OP_MADE, (unsigned long long)op->seq);
    return !op->segment->live && strcmp(op->rewrite.op_id, made) != 0;
}

PHI__FN bool phi__ops_evict(phi_thread *thread) {
    size_t n = 0;
    for (const phi__op *op = thread->ops.last; op != NULL; op = op->earlier)
        n += phi__ops_keeps_id(op);
    if (!phi__hashes_room(thread->log.memory, &thread->ops.away, n)) return false;
    for (const phi__op *op = thread->ops.last; op != NULL; op = op->earlier)
        if (phi__ops_keeps_id(op)) phi__hashes_add(&thread->ops.away, op->id_hash);
    return true;
}

/* Revokes again the rewrites whose revoking entry the store did not have yet. */
PHI__FN void phi__ops_recalled(phi_thread *thread) {
    phi__op *target;
    phi__hashes_free(thread->log.memory, &thread->ops.away);
    for (const phi__op *op = thread->ops.last; op != NULL; op = op->earlier) {
        if (op->rewrite.revoke == NULL) continue;
        target = phi__ops_find(thread, phi_str_of(op->rewrite.revoke));
        if (target == NULL) continue;
        target->revoked = true;
        target->revoked_at = op->seq;
    }
}

PHI__FN bool phi__messages_room(phi_memory *memory, phi__messages *messages, size_t n) {
    void *grown = phi__grow(memory, messages->at, &messages->cap, phi__add(messages->held, n),
                            sizeof *messages->at);
    if (grown != NULL) messages->at = (phi__entry **)grown;
    return grown != NULL;
}

PHI__FN void phi__messages_add(phi__messages *messages, phi__entry *entry) {
    entry->ordinal = messages->count++;
    messages->at[messages->held++] = entry;
    if (entry->message->role == PHI_ROLE_USER && !entry->message->is_update)
        messages->last_user = entry->seq + 1;
}

PHI__FN void phi__messages_replace(phi_memory *memory, phi__messages *messages, phi__entry **list,
                                   size_t count, size_t cap) {
    phi__messages_free(memory, messages);
    messages->at = list;
    messages->count = messages->held = count;
    messages->cap = cap;
    for (size_t i = count; i > 0 && messages->last_user == 0; i--)
        if (list[i - 1]->message->role == PHI_ROLE_USER && !list[i - 1]->message->is_update)
            messages->last_user = list[i - 1]->seq + 1;
}

PHI__FN void phi__messages_clear(phi__messages *messages) {
    messages->count = messages->held = 0;
    messages->last_user = 0;
}

PHI__FN void phi__messages_evict(phi__messages *messages) {
    messages->held = phi__log_keep_live(messages->at, messages->held);
}

PHI__FN void phi__messages_shrink(phi_memory *memory, phi__messages *messages) {
    messages->at = phi__log_shrink_list(memory, messages->at, messages->held, &messages->cap);
}

PHI__FN void phi__messages_free(phi_memory *memory, phi__messages *messages) {
    phi__free(memory, messages->at, messages->cap * sizeof *messages->at);
    memset(messages, 0, sizeof *messages);
}

PHI__FN void phi__state_drop(phi_thread *thread, phi__state_text *text) {
    phi__free(thread->log.memory, text->at, text->at != NULL ? text->len + 1 : 0);
    memset(text, 0, sizeof *text);
}

/* False: no memory. */
PHI__FN bool phi__state_copy(phi_thread *thread, phi_str from, phi__state_text *out) {
    memset(out, 0, sizeof *out);
    if (phi__str_is(from, "{}")) return true;
    out->at = (char *)phi__alloc(thread->log.memory, phi__add(from.len, 1));
    if (out->at == NULL) return false;
    memcpy(out->at, from.at, from.len);
    out->len = from.len;
    return true;
}

/* `made` is the state from now on, and the thread's. In a run of which nothing may be kept the text
   before its first change stays until it ends. */
PHI__FN void phi__state_take(phi_thread *thread, const phi__state_text *made) {
    phi__tool_state *state = &thread->state;
    const phi__entry *run = thread->loops.started;
    uint64_t start = run != NULL && thread->loops.keeps_none ? run->seq + 1 : 0;
    if (start != 0 && state->run != start) {
        phi__state_drop(thread, &state->before);
        state->before = state->now;
        state->run = start;
        memset(&state->now, 0, sizeof state->now);
    }
    phi__state_drop(thread, &thread->state.now);
    thread->state.now = *made;
    thread->state.known = true;
}

PHI__FN void phi__state_run_ended(phi_thread *thread, uint64_t start, bool none) {
    phi__tool_state *state = &thread->state;
    if (start == 0 || state->run != start) return;
    state->run = 0;
    if (none && state->known) {
        phi__state_drop(thread, &state->now);
        state->now = state->before;
        memset(&state->before, 0, sizeof state->before);
    }
    phi__state_drop(thread, &state->before);
}

PHI__FN void phi__state_unknown(phi_thread *thread) { thread->state.known = false; }

PHI__FN void phi__state_free(phi_thread *thread) {
    phi__state_drop(thread, &thread->state.now);
    phi__state_drop(thread, &thread->state.before);
    thread->state.known = false;
}

PHI__FN size_t phi__state_bytes(const phi_thread *thread) {
    return thread->state.now.len + thread->state.before.len;
}
