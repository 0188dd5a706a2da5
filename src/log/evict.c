/* evict.c - evicts entries that are in no view, whole segments at a time, and recalls them. */
#include "log/thread_in.h"

#include <stdio.h>

/* ---- evicting ---- */

/* Removes the entries of segments that are not live from a list. Returns how many stay. */
static size_t phi__evict_list(phi__entry **entries, size_t count) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (entries[i]->segment->live) entries[n++] = entries[i];
    return n;
}

/* Frees room that is probably not needed again. */
static void phi__evict_shrink(phi_memory *memory, phi__entry ***entries, size_t count,
                              size_t *cap) {
    size_t fewer = phi__max(count * 2, 16);
    if (*cap / 2 < fewer) return;
    void *smaller =
        phi__realloc(memory, *entries, *cap * sizeof **entries, fewer * sizeof **entries);
    if (smaller == NULL) return;
    *cap = fewer;
    *entries = (phi__entry **)smaller;
}

/* Removes evicted runs from the table. Without memory for a smaller table, the old one stays. */
static void phi__evict_loops(phi_thread *thread) {
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

/* True if the id of an evicted rewrite must be kept, because a host could use it again. An id that
   phi made from the rewrite's seq need not be kept. */
static bool phi__evict_keeps_id(const phi__op *op) {
    char made[PHI__OP_MADE_SIZE];
    (void)snprintf(made, sizeof made, PHI__OP_MADE, (unsigned long long)op->seq);
    return !op->segment->live && strcmp(op->rewrite.op_id, made) != 0;
}

/* Links the rewrites in memory and puts them into the table again. False: no memory, and nothing
   changed. If there are not more rewrites than before, this cannot fail. */
static bool phi__evict_index(phi_thread *thread) {
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

static bool phi__evict_claim_ids(phi_thread *thread) {
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

/* With a memory limit, keeps only the tool call ids of entries in memory. Without memory for the
   new list, the old one stays. */
static void phi__evict_shed_ids(phi_thread *thread) {
    phi__hashes before = thread->counted.ids;
    if (thread->log.segments.limit_bytes == 0) return;
    memset(&thread->counted.ids, 0, sizeof before);
    bool done = phi__evict_claim_ids(thread);
    phi__hashes_free(thread->log.memory, done ? &before : &thread->counted.ids);
    if (!done) thread->counted.ids = before;
}

PHI__FN bool phi__thread_evict_begin(phi_thread *thread) {
    phi__segments *segments = &thread->log.segments;
    phi_str state;
    /* Computes the state now, because the notes that hold it may be evicted. */
    if (phi__state_now(thread, &state) != PHI_OK) return false;
    segments->first.live = false;
    for (phi__segment *s = segments->others; s != NULL; s = s->older) s->live = false;
    phi__segments_pin(segments->current);
    if (thread->loops.started != NULL) phi__segments_pin(thread->loops.started->segment);
    for (size_t i = 0; i < thread->fold.count; i++)
        phi__segments_pin(PHI__OWNER(thread->fold.items[i].arena, phi__segment, arena));
    for (size_t i = 0; i < thread->undo.fold.count; i++)
        phi__segments_pin(PHI__OWNER(thread->undo.fold.items[i].arena, phi__segment, arena));
    return true;
}

PHI__FN void phi__thread_evict_end(phi_thread *thread) {
    phi_memory *memory = thread->log.memory;
    phi__log *log = &thread->log;
    phi__messages *messages = &thread->messages;
    phi__ops *ops = &thread->ops;
    size_t n = 0;
    /* The ids of evicted rewrites are kept, if a host gave them. */
    for (const phi__op *op = ops->last; op != NULL; op = op->earlier) n += phi__evict_keeps_id(op);
    if (!phi__hashes_room(memory, &ops->away, n)) return; /* try again at the next eviction */
    for (const phi__op *op = ops->last; op != NULL; op = op->earlier)
        if (phi__evict_keeps_id(op)) phi__hashes_add(&ops->away, op->id_hash);
    log->left = false;
    log->held = phi__evict_list(log->entries, log->held);
    messages->held = phi__evict_list(messages->at, messages->held);
    (void)phi__evict_index(thread); /* cannot fail for fewer rewrites */
    phi__evict_loops(thread);
    phi__evict_shed_ids(thread);
    phi__evict_shrink(memory, &log->entries, log->held, &log->cap);
    phi__evict_shrink(memory, &messages->at, messages->held, &messages->cap);
    phi__segments_drop_dead(log);
}

/* ---- recalling ---- */

/* True if the entries in memory equal those of the store. If not, the store has another log. */
static bool phi__rejoin_fits(const phi_thread *thread, const phi_thread *whole) {
    for (size_t i = 0; i < thread->log.held && thread->log.entries[i]->seq < whole->log.count;
         i++) {
        const phi__entry *ours = thread->log.entries[i];
        const phi__entry *theirs = whole->log.entries[ours->seq - whole->log.base];
        if (ours->kind != theirs->kind || ours->at_ms != theirs->at_ms ||
            (ours->ordinal != theirs->ordinal && (ours->flags & PHI_ENTRY_GRAFTED) == 0))
            return false;
    }
    return true;
}

/* Makes a list of all entries: those in memory stay, and the evicted ones come from `whole`. */
static phi__entry **phi__rejoin_merge(const phi_thread *thread, const phi_thread *whole) {
    size_t n = thread->log.count - thread->log.base, at = 0;
    phi__entry **list = (phi__entry **)phi__alloc(thread->log.memory, phi__mul(n, sizeof *list));
    for (size_t i = 0; list != NULL && i < n; i++)
        list[i] = at < thread->log.held && thread->log.entries[at]->seq == thread->log.base + i
                      ? thread->log.entries[at++]
                      : whole->log.entries[i];
    return list;
}

/* Marks rewrites as revoked again if the store lacked the entry that revoked them, or the end of
   the run that made them. */
static void phi__rejoin_revoke(phi_thread *thread) {
    for (const phi__op *op = thread->ops.last; op != NULL; op = op->earlier) {
        phi__op *target = op->rewrite.revoke != NULL
                              ? phi__ops_find(thread, phi_str_of(op->rewrite.revoke))
                              : NULL;
        if (target == NULL) continue;
        target->revoked = true;
        target->revoked_at = op->seq;
    }
    for (size_t i = 0; i < thread->log.held; i++) {
        const phi__entry *end = thread->log.entries[i];
        if (end->kind == PHI_ENTRY_LOOP_END && end->keep == PHI_KEEP_NONE && end->ordinal > 0)
            (void)phi__ops_roll_back(thread, end->lane, (uint64_t)end->ordinal - 1, end->seq);
    }
}

PHI__FN phi_status phi__thread_rejoin(phi_thread *thread, phi_thread *whole) {
    phi__log *log = &thread->log;
    phi__entry **before = log->entries;
    size_t held = log->held, cap = log->cap;
    if (whole->log.base != log->base || !phi__rejoin_fits(thread, whole)) return PHI_PARSE;
    phi__entry **list = phi__rejoin_merge(thread, whole);
    if (list == NULL) return PHI_NO_MEMORY;
    log->entries = list;
    log->held = log->cap = log->count - log->base;
    if (!phi__evict_index(thread) || !phi__lane_messages(thread, thread->lanes.active)) {
        phi__free(log->memory, list, log->cap * sizeof *list);
        log->entries = before;
        log->held = held;
        log->cap = cap;
        (void)phi__evict_index(thread);
        return PHI_NO_MEMORY;
    }
    phi__free(log->memory, before, cap * sizeof *before);
    phi__hashes_free(log->memory, &thread->ops.away);
    phi__rejoin_revoke(thread);
    phi__segment **end = &log->segments.others; /* the current segment stays current */
    while (*end != NULL) end = &(*end)->older;
    *end = whole->log.segments.others;
    whole->log.segments.others = NULL;
    return PHI_OK;
}
