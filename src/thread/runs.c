/* runs.c - where runs begin and end in a log, and how one that keeps nothing is rolled back.

   Such a run is one unit: what it said leaves the view, and so do the rewrites that it made, as if each had been revoked
   when it ended. The lane then shows what it showed before. A run keeps a copy of that from its first rewrite on, so that
   its end needs no memory; where there is no copy, as in a log that is read, the lane is folded anew. */
#include "thread/thread_in.h"

#include "wire/hash_in.h"

/* ---- beginnings, by id ---- */

static uint64_t phi__runs_hash(phi_str loop_id) {
    uint64_t hash = phi__hash(loop_id, 0);
    return hash != 0 ? hash : 1;
}

/* Where that of a run stands, or the free place where it would. */
static phi__loop_start *phi__runs_place(phi__loop_start *table, size_t cap, uint64_t hash) {
    size_t at = (size_t)hash & (cap - 1);
    while (table[at].hash != 0 && table[at].hash != hash) at = (at + 1) & (cap - 1);
    return &table[at];
}

/* NULL: there is no run of this id. */
static phi__loop_start *phi__runs_find(const phi_thread *thread, phi_str loop_id) {
    phi__loop_start *place;
    if (thread->loops.cap == 0) return NULL;
    place = phi__runs_place(thread->loops.at, thread->loops.cap, phi__runs_hash(loop_id));
    return place->hash != 0 ? place : NULL;
}

PHI__FN bool phi__thread_has_loop(const phi_thread *thread, phi_str loop_id) {
    return phi__runs_find(thread, loop_id) != NULL;
}

PHI__FN phi_status phi__thread_had_loop(const phi_thread *thread, phi_str loop_id, bool *had) {
    phi_status status = PHI_OK;
    size_t i;
    *had = phi__thread_has_loop(thread, loop_id);
    if (*had || !thread->loops.away) return PHI_OK;
    status = phi__thread_recall(thread);
    for (i = 0; status == PHI_OK && !*had && i < thread->log.held; i++)
        *had = thread->log.entries[i]->kind == PHI_ENTRY_LOOP_START &&
               phi_str_equal(thread->log.entries[i]->loop_id, loop_id);
    return status;
}

/* ---- loop ids in the log ---- */

typedef struct phi__runs_told {
    bool (*saw_fn)(void *user_data, phi_str loop_id);
    void *user_data;
    phi_str last; /* messages of a turn stand together */
} phi__runs_told;

static bool phi__runs_tell(phi__runs_told *to, phi_str loop_id) {
    if (loop_id.len == 0 || loop_id.at == to->last.at || phi_str_equal(loop_id, to->last))
        return true;
    to->last = loop_id;
    return to->saw_fn(to->user_data, loop_id);
}

static bool phi__runs_tell_rewrite(phi__runs_told *to, const phi_rewrite *rewrite) {
    size_t i, j;
    for (i = 0; i < rewrite->span_count; i++)
        for (j = 0; j < rewrite->spans[i].message_count; j++)
            if (!phi__runs_tell(to, rewrite->spans[i].messages[j].loop_id)) return false;
    return true;
}

static bool phi__runs_tell_entry(phi__runs_told *to, const phi__entry *entry) {
    switch ((int)entry->kind) {
    case PHI_ENTRY_LOOP_START: return phi__runs_tell(to, entry->loop_id);
    case PHI_ENTRY_REWRITE:
        return entry->of.op == NULL || phi__runs_tell_rewrite(to, &entry->of.op->rewrite);
    case PHI_ENTRY_MESSAGE: /* a run's share one string */
        return phi__runs_tell(to,
                              entry->loop_id.len > 0 ? entry->loop_id : entry->message->loop_id);
    default: return true;
    }
}

PHI__FN bool phi__thread_tell_loops(phi_thread *thread, uint64_t reader,
                                    bool (*saw_fn)(void *user_data, phi_str loop_id),
                                    void *user_data) {
    phi__loops *loops = &thread->loops;
    uint64_t from = loops->told_to == reader ? loops->told : 0;
    phi__runs_told to;
    size_t i = thread->log.held;
    memset(&to, 0, sizeof to);
    to.saw_fn = saw_fn;
    to.user_data = user_data;
    while (i > 0 && thread->log.entries[i - 1]->seq >= from)
        if (!phi__runs_tell_entry(&to, thread->log.entries[--i])) return false;
    loops->told = thread->log.count;
    loops->told_to = reader;
    return true;
}

PHI__FN phi_loop_info *phi__loop_info_copy(phi_arena *arena, const phi_loop_info *from) {
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

static uint64_t phi__runs_prompt_hash(phi_str prompt) {
    uint64_t hash = phi__hash(prompt, 3);
    return hash != 0 ? hash : 1;
}

PHI__FN bool phi__loop_info_prompt(const phi_thread *thread, phi_arena *arena, phi_str prompt,
                                   phi_loop_info *info) {
    info->system_prompt = phi__str("", 0);
    info->has_system_prompt = thread->loops.prompt_hash != 0 || prompt.len > 0;
    if (info->has_system_prompt && phi__runs_prompt_hash(prompt) == thread->loops.prompt_hash)
        info->has_system_prompt = false;
    return !info->has_system_prompt || phi__arena_str(arena, prompt, &info->system_prompt);
}

PHI__FN bool phi__thread_note_run(phi_thread *thread, const phi_loop_info *info, int64_t started_ms,
                                  int64_t ended_ms, phi_status status) {
    bool restored = thread->restored, done = false;
    phi_arena *room;
    phi_arena_mark mark;
    phi_loop_info *kept;
    phi__entry entries[2];
    if (!phi__thread_roll(thread, NULL)) return false;
    room = phi__thread_room(thread);
    mark = phi_arena_save(room);
    kept = phi__loop_info_copy(room, info);
    memset(entries, 0, sizeof entries);
    if (kept != NULL) {
        entries[0].kind = PHI_ENTRY_LOOP_START;
        entries[1].kind = PHI_ENTRY_LOOP_END;
        entries[0].loop_id = entries[1].loop_id = kept->loop_id;
        entries[0].of.loop = kept;
        entries[0].at_ms = started_ms;
        entries[1].at_ms = ended_ms;
        entries[1].status = status;
        done = phi__thread_append(thread, entries, 2);
    }
    thread->restored = restored; /* it answers nothing here */
    if (!done) phi_arena_reset(room, mark);
    return done;
}

/* ---- the table of beginnings ---- */

/* Without memory for a smaller table the old one stays. */
PHI__FN void phi__thread_shed_loops(phi_thread *thread) {
    phi__loops *loops = &thread->loops;
    size_t n = 0, cap = 8, i;
    phi__loop_start *table;
    for (i = 0; i < thread->log.held; i++)
        n += thread->log.entries[i]->kind == PHI_ENTRY_LOOP_START;
    while (cap / 2 <= n) cap *= 2;
    if (cap >= loops->cap) return;
    table = (phi__loop_start *)phi__alloc(thread->log.memory, phi__mul(cap, sizeof *table));
    if (table == NULL) return;
    for (i = n = 0; i < thread->log.held; i++) {
        const phi__loop_start *was = NULL;
        phi__loop_start *now;
        if (thread->log.entries[i]->kind == PHI_ENTRY_LOOP_START)
            was = phi__runs_find(thread, thread->log.entries[i]->loop_id);
        if (was == NULL) continue;
        now = phi__runs_place(table, cap, was->hash);
        n += now->hash == 0;
        *now = *was;
    }
    phi__free(thread->log.memory, loops->at, loops->cap * sizeof *table);
    loops->at = table;
    loops->cap = cap;
    loops->count = n;
    loops->away = true;
}

PHI__FN bool phi__thread_loop_room(phi_thread *thread) {
    phi__loops *loops = &thread->loops;
    size_t cap = phi__max(loops->cap * 2, 8), i;
    phi__loop_start *table;
    if (loops->count < loops->cap / 2) return true;
    table = (phi__loop_start *)phi__alloc(thread->log.memory, phi__mul(cap, sizeof *table));
    if (table == NULL) return false;
    for (i = 0; i < loops->cap; i++)
        if (loops->at[i].hash != 0) *phi__runs_place(table, cap, loops->at[i].hash) = loops->at[i];
    phi__free(thread->log.memory, loops->at, loops->cap * sizeof *table);
    loops->at = table;
    loops->cap = cap;
    return true;
}

PHI__FN void phi__thread_loop_starts(phi_thread *thread, const phi__entry *start) {
    phi__loops *loops = &thread->loops;
    phi__loop_start *place = phi__runs_find(thread, start->loop_id);
    if (place == NULL && loops->count < loops->cap / 2) {
        uint64_t hash = phi__runs_hash(start->loop_id);
        place = phi__runs_place(loops->at, loops->cap, hash);
        place->hash = hash;
        loops->count++;
    }
    if (place != NULL) place->seq = start->seq + 1; /* its room was made */
    if (start->of.loop != NULL && start->of.loop->has_system_prompt)
        thread->loops.prompt_hash = phi__runs_prompt_hash(start->of.loop->system_prompt);
    thread->restored = false;
    thread->loops.started = (phi__entry *)(uintptr_t)start;
    phi__thread_drop_undo(thread);
}

/* ---- what it was before ---- */

PHI__FN void phi__thread_drop_undo(phi_thread *thread) {
    phi__fold_free(thread->log.memory, &thread->undo.fold);
    memset(&thread->undo, 0, sizeof thread->undo);
}

PHI__FN bool phi__thread_keep_undo(phi_thread *thread) {
    phi__fold *kept = &thread->undo.fold;
    const phi__fold *fold = &thread->fold;
    if (!thread->loops.keeps_none || thread->loops.started == NULL || thread->undo.start != 0 ||
        thread->ops.last_seq > thread->loops.started->seq)
        return true;
    if (!phi__fold_room(thread->log.memory, kept, phi__max(fold->count, 1))) return false;
    if (fold->count > 0) memcpy(kept->items, fold->items, fold->count * sizeof *fold->items);
    kept->count = fold->count;
    kept->tokens = fold->tokens;
    kept->durable = fold->durable;
    kept->overlaps = fold->overlaps;
    thread->undo.start = thread->loops.started->seq + 1;
    thread->undo.lane = thread->lanes.active;
    return true;
}

/* ---- rolling back ---- */

/* The seq of its LOOP_START, and 1; 0: none, or it has ended before. */
static uint64_t phi__runs_start(const phi_thread *thread, const phi__entry *end) {
    const phi__loop_start *start = phi__runs_find(thread, end->loop_id);
    return start != NULL ? start->seq : 0;
}

static bool phi__runs_has_undo(const phi_thread *thread, uint64_t start) {
    return thread->undo.start == start && thread->undo.lane == thread->lanes.active;
}

/* The lane without the rewrites of the run, into the undo. They count as rolled back for that moment alone: the end may
   not come to be appended. */
static phi_status phi__runs_fold_anew(phi_thread *thread, uint64_t start) {
    phi_status status = phi__thread_recall(thread);
    phi__fold fold;
    phi__op *op;
    if (status != PHI_OK ||
        !phi__thread_roll_back_ops(thread, thread->lanes.active, start - 1, thread->log.count))
        return status;
    status = phi__fold_lane(thread, thread->lanes.active, UINT64_MAX, &fold);
    for (op = thread->ops.last; op != NULL && op->seq >= start; op = op->earlier)
        if (op->revoked && op->revoked_at == thread->log.count) op->revoked = false;
    if (status != PHI_OK) return status;
    phi__thread_drop_undo(thread);
    thread->undo.fold = fold;
    thread->undo.start = start;
    thread->undo.lane = thread->lanes.active;
    return PHI_OK;
}

PHI__FN phi_status phi__thread_may_end(phi_thread *thread, const phi__entry *end) {
    uint64_t start = phi__runs_start(thread, end);
    if (end->keep != PHI_KEEP_NONE || start == 0 || phi__runs_has_undo(thread, start) ||
        thread->ops.last_seq < start)
        return PHI_OK;
    if (thread->loading != NULL) return phi__load_roll_back(thread, start);
    return phi__runs_fold_anew(thread, start);
}

static void phi__runs_roll_back(phi_thread *thread, const phi__entry *end) {
    uint64_t start = (uint64_t)end->ordinal;
    (void)phi__thread_roll_back_ops(thread, end->lane, start - 1, end->seq);
    phi__thread_unmark_ops(thread, end->lane, start - 1, end->seq);
    if (phi__runs_has_undo(thread, start)) {
        phi__fold_free(thread->log.memory, &thread->fold);
        thread->fold = thread->undo.fold;
        memset(&thread->undo, 0, sizeof thread->undo);
    }
    phi__fold_take_out(&thread->fold, start - 1, end->seq);
    phi__thread_left(thread);
}

PHI__FN void phi__thread_loop_ends(phi_thread *thread, phi__entry *end) {
    phi__loop_start *start = phi__runs_find(thread, end->loop_id);
    end->ordinal = start != NULL ? (size_t)start->seq : 0;
    if (start != NULL) start->seq = 0;
    if (end->keep == PHI_KEEP_NONE && end->ordinal > 0) phi__runs_roll_back(thread, end);
    phi__thread_drop_undo(thread);
    thread->loops.started = NULL;
}

PHI__FN void phi__thread_roll_back_again(phi_thread *thread) {
    size_t i;
    for (i = 0; i < thread->log.held; i++) {
        const phi__entry *end = thread->log.entries[i];
        if (end->kind == PHI_ENTRY_LOOP_END && end->keep == PHI_KEEP_NONE && end->ordinal > 0)
            (void)phi__thread_roll_back_ops(thread, end->lane, (uint64_t)end->ordinal - 1,
                                            end->seq);
    }
}
