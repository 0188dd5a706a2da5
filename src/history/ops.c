/* ops.c - the rewrites of a log: by id, in a chain from the newest, and which of them are
   compactions that count. */
#include "history/ops_in.h"

#include "history/rewrite_in.h"
#include "history/thread_in.h"
#include "wire/hash_in.h"

#include <stdio.h>

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
    size_t n = 0, i;
    for (i = 0; i < thread->log.held; i++) n += thread->log.entries[i]->kind == PHI_ENTRY_REWRITE;
    if (!phi__map_reserve(&ops->by_id, n)) return false;
    phi__map_clear(&ops->by_id);
    ops->last = NULL;
    for (i = 0; i < thread->log.held; i++) {
        phi__op *op = thread->log.entries[i]->of.op;
        if (thread->log.entries[i]->kind != PHI_ENTRY_REWRITE) continue;
        op->earlier = ops->last;
        ops->last = op;
        phi__map_add(&ops->by_id, op->id_hash, op);
    }
    return true;
}

static bool phi__ops_compacts(const phi__op *op) {
    return op->rewrite.reason == PHI_REWRITE_COMPACTION && op->rewrite.revoke == NULL;
}

enum { PHI__MARKS_MOST = 64 };

/* Room for the mark of one more compaction. False: no memory. Where memory is limited, old ones are
   given up: they count only when all later ones were undone. */
static bool phi__ops_mark_room(phi_thread *thread) {
    size_t half = PHI__MARKS_MOST / 2;
    void *grown;
    if (thread->log.segments.limit_bytes != 0 && thread->lanes.at == NULL &&
        thread->ops.compaction_count == PHI__MARKS_MOST) {
        memmove(thread->ops.compactions, &thread->ops.compactions[half],
                half * sizeof *thread->ops.compactions);
        thread->ops.compaction_count = half;
    }
    grown = phi__grow(thread->log.memory, thread->ops.compactions, &thread->ops.compaction_cap,
                      phi__add(thread->ops.compaction_count, 1), sizeof *thread->ops.compactions);
    if (grown != NULL) thread->ops.compactions = (phi__compaction_mark *)grown;
    return grown != NULL;
}

static void phi__ops_mark(phi_thread *thread, const phi__op *op) {
    phi__compaction_mark *mark = &thread->ops.compactions[thread->ops.compaction_count++];
    mark->seq = op->seq;
    mark->lane = op->lane;
}

/* Newest first: a run's own are in front. */
PHI__FN bool phi__ops_roll_back(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to) {
    phi__op *op;
    bool any = false;
    for (op = thread->ops.last; op != NULL && op->seq > from; op = op->earlier) {
        if (op->seq > to || op->lane != lane || op->rewrite.revoke != NULL || op->revoked) continue;
        op->revoked = any = true;
        op->revoked_at = to;
    }
    return any;
}

PHI__FN void phi__ops_unmark(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to) {
    size_t i, n = 0;
    for (i = 0; i < thread->ops.compaction_count; i++) {
        const phi__compaction_mark *mark = &thread->ops.compactions[i];
        if (mark->lane != lane || mark->seq < from || mark->seq > to)
            thread->ops.compactions[n++] = *mark;
    }
    thread->ops.compaction_count = n;
}

PHI__FN bool phi__ops_room(phi_thread *thread, const phi__op *op) {
    return phi__map_room(&thread->ops.by_id) &&
           (!phi__ops_compacts(op) || phi__ops_mark_room(thread));
}

PHI__FN void phi__ops_add(phi_thread *thread, phi__op *op) {
    if (op->rewrite.span_count > 0 || op->rewrite.revoke != NULL) thread->ops.last_seq = op->seq;
    op->earlier = thread->ops.last;
    thread->ops.last = op;
    op->id_hash = phi__hash(phi_str_of(op->rewrite.op_id), 0);
    phi__map_add(&thread->ops.by_id, op->id_hash, op);
    if (phi__ops_compacts(op)) phi__ops_mark(thread, op);
}

/* ---- eviction ---- */

/* Whether the id of an evicted rewrite must be kept, since a host could give it again; an id that
   phi made of the rewrite's seq need not. */
static bool phi__ops_keeps_id(const phi__op *op) {
    char made[PHI__OP_MADE_SIZE];
    (void)snprintf(made, sizeof made, PHI__OP_MADE, (unsigned long long)op->seq);
    return !op->segment->live && strcmp(op->rewrite.op_id, made) != 0;
}

PHI__FN bool phi__ops_evict(phi_thread *thread) {
    const phi__op *op;
    size_t n = 0;
    for (op = thread->ops.last; op != NULL; op = op->earlier) n += phi__ops_keeps_id(op);
    if (!phi__hashes_room(thread->log.memory, &thread->ops.away, n)) return false;
    for (op = thread->ops.last; op != NULL; op = op->earlier)
        if (phi__ops_keeps_id(op)) phi__hashes_add(&thread->ops.away, op->id_hash);
    return true;
}

/* Revokes again the rewrites whose revoking entry the store did not have yet. */
PHI__FN void phi__ops_recalled(phi_thread *thread) {
    const phi__op *op;
    phi__op *target;
    phi__hashes_free(thread->log.memory, &thread->ops.away);
    for (op = thread->ops.last; op != NULL; op = op->earlier) {
        if (op->rewrite.revoke == NULL) continue;
        target = phi__ops_find(thread, phi_str_of(op->rewrite.revoke));
        if (target == NULL) continue;
        target->revoked = true;
        target->revoked_at = op->seq;
    }
}
