/* loops.c - the runs of a log by id: where each began, and the state of the active one. */
#include "history/loops_in.h"

#include "history/thread_in.h"
#include "wire/hash_in.h"
#include "model/event_parts.h"

static uint64_t phi__loops_hash(phi_str loop_id) {
    uint64_t hash = phi__hash(loop_id, 0);
    return hash != 0 ? hash : 1;
}

/* Where that of a run stands, or the free place where it would. */
static phi__loop_start *phi__loops_place(phi__loop_start *table, size_t cap, uint64_t hash) {
    size_t at = (size_t)hash & (cap - 1);
    while (table[at].hash != 0 && table[at].hash != hash) at = (at + 1) & (cap - 1);
    return &table[at];
}

static phi__loop_start *phi__loops_known(const phi_thread *thread, phi_str loop_id) {
    phi__loop_start *place;
    if (thread->loops.cap == 0) return NULL;
    place = phi__loops_place(thread->loops.at, thread->loops.cap, phi__loops_hash(loop_id));
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
    phi_str last; /* messages of a turn stand together */
} phi__loops_told;

static bool phi__loops_tell(phi__loops_told *to, phi_str loop_id) {
    if (loop_id.len == 0 || loop_id.at == to->last.at || phi_str_equal(loop_id, to->last))
        return true;
    to->last = loop_id;
    return to->saw_fn(to->user_data, loop_id);
}

static bool phi__loops_tell_rewrite(phi__loops_told *to, const phi_rewrite *rewrite) {
    size_t i, j;
    for (i = 0; i < rewrite->span_count; i++)
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
    phi__loops_told to;
    size_t i = thread->log.held;
    memset(&to, 0, sizeof to);
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
            was = phi__loops_find(thread, thread->log.entries[i]->loop_id);
        if (was == NULL) continue;
        now = phi__loops_place(table, cap, was->hash);
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
    size_t cap = phi__max(loops->cap * 2, 8), i;
    phi__loop_start *table;
    if (loops->count < loops->cap / 2) return true;
    table = (phi__loop_start *)phi__alloc(thread->log.memory, phi__mul(cap, sizeof *table));
    if (table == NULL) return false;
    for (i = 0; i < loops->cap; i++)
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

PHI__FN void phi__loops_ends(phi_thread *thread, phi__entry *end) {
    phi__loops_ends_beside(thread, end);
    thread->loops.started = NULL;
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
