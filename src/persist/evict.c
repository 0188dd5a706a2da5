/* evict.c - evicts entries that no view has: whole segments, of a log in a store. */
#include "persist/recall_in.h"

#include "persist/journal_in.h"

#include <stdio.h>

#ifndef PHI_NO_STORES

PHI__FN bool phi__evict_begin(phi_thread *thread) {
    phi__segment *segment = thread->log.segments;
    size_t i;
    if (!thread->log.left || thread->journal == NULL || thread->journal->stored < thread->log.count)
        return false;
    for (thread->log.first.live = false; segment != NULL; segment = segment->older)
        segment->live = false;
    phi__segments_pin(thread->log.current);
    if (thread->loops.started != NULL) phi__segments_pin(thread->loops.started->segment);
    for (i = 0; i < thread->fold.count; i++)
        phi__segments_pin(PHI__OWNER(thread->fold.items[i].arena, phi__segment, arena));
    for (i = 0; i < thread->undo.fold.count; i++)
        phi__segments_pin(PHI__OWNER(thread->undo.fold.items[i].arena, phi__segment, arena));
    return true;
}

/* Whether the id of an evicted rewrite must be kept, since a host could give it again; an id that
   phi made of the rewrite's seq need not. */
static bool phi__evict_keeps_id(const phi__op *op) {
    char made[32];
    (void)snprintf(made, sizeof made, PHI__OP_MADE, (unsigned long long)op->seq);
    return !op->segment->live && strcmp(op->rewrite.op_id, made) != 0;
}

/* The ids of rewrites that leave are known on. False: no memory. */
static bool phi__evict_note_ops(phi_thread *thread) {
    const phi__op *op;
    size_t n = 0;
    for (op = thread->ops.last; op != NULL; op = op->earlier) n += phi__evict_keeps_id(op);
    if (!phi__hashes_room(thread->log.memory, &thread->ops.away, n)) return false;
    for (op = thread->ops.last; op != NULL; op = op->earlier)
        if (phi__evict_keeps_id(op)) phi__hashes_add(&thread->ops.away, op->id_hash);
    return true;
}

static bool phi__evict_claim(phi_thread *thread) {
    size_t i, j, k;
    for (i = 0; i < thread->log.held; i++) {
        const phi__entry *entry = thread->log.entries[i];
        const phi_rewrite *r;
        if (entry->kind == PHI_ENTRY_MESSAGE && !phi__append_claim_calls(thread, entry->message))
            return false;
        if (entry->kind != PHI_ENTRY_REWRITE) continue;
        r = &entry->of.op->rewrite;
        for (j = 0; j < r->span_count; j++)
            for (k = 0; k < r->spans[j].message_count; k++)
                if (!phi__append_claim_calls(thread, &r->spans[j].messages[k])) return false;
    }
    return true;
}

/* Where memory is limited, only the tool call ids of entries in memory are kept. Without memory for
   the new list the old one stays. */
static void phi__evict_shed_ids(phi_thread *thread) {
    phi__hashes before = thread->ids;
    if (thread->log.limit_bytes == 0) return;
    memset(&thread->ids, 0, sizeof thread->ids);
    if (phi__evict_claim(thread)) {
        phi__hashes_free(thread->log.memory, &before);
        return;
    }
    phi__hashes_free(thread->log.memory, &thread->ids);
    thread->ids = before;
}

static size_t phi__evict_keep(phi__entry **entries, size_t count) {
    size_t i, n = 0;
    for (i = 0; i < count; i++)
        if (entries[i]->segment->live) entries[n++] = entries[i];
    return n;
}

/* Gives back room that is not likely to be needed again. */
static phi__entry **phi__evict_shrink(phi_memory *memory, phi__entry **entries, size_t count,
                                      size_t *cap) {
    size_t fewer = phi__max(count * 2, 16);
    void *smaller;
    if (*cap / 2 < fewer) return entries;
    smaller = phi__realloc(memory, entries, *cap * sizeof *entries, fewer * sizeof *entries);
    if (smaller == NULL) return entries;
    *cap = fewer;
    return (phi__entry **)smaller;
}

PHI__FN void phi__evict_end(phi_thread *thread) {
    if (!phi__evict_note_ops(thread)) return; /* another time */
    thread->log.left = false;
    thread->log.held = phi__evict_keep(thread->log.entries, thread->log.held);
    thread->messages.held = phi__evict_keep(thread->messages.at, thread->messages.held);
    (void)phi__ops_index_all(thread); /* of fewer it cannot fail */
    phi__loops_evict(thread);
    phi__evict_shed_ids(thread);
    thread->log.entries = phi__evict_shrink(thread->log.memory, thread->log.entries,
                                            thread->log.held, &thread->log.cap);
    thread->messages.at = phi__evict_shrink(thread->log.memory, thread->messages.at,
                                            thread->messages.held, &thread->messages.cap);
    phi__segments_drop_dead(&thread->log);
}

#endif
