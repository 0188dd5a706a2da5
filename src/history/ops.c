/* ops.c - the rewrites of a log: by id, in a chain from the newest, and which of them are
   compactions that count. */
#include "history/ops_in.h"

#include "history/thread_in.h"
#include "wire/hash_in.h"

/* Where the rewrite of an id stands, or the free place where it would. */
static phi__op_place *phi__ops_place(phi__op_place *table, size_t cap, uint64_t hash,
                                     phi_str op_id) {
    size_t at = (size_t)hash & (cap - 1);
    while (table[at].op != NULL &&
           (table[at].hash != hash || !phi__str_is(op_id, table[at].op->rewrite.op_id)))
        at = (at + 1) & (cap - 1);
    return &table[at];
}

PHI__FN phi__op *phi__thread_find_op(const phi_thread *thread, phi_str op_id) {
    return thread->ops.cap > 0
               ? phi__ops_place(thread->ops.table, thread->ops.cap, phi__hash(op_id, 0), op_id)->op
               : NULL;
}

static void phi__ops_index(phi_thread *thread, phi__op *op) {
    phi__op_place *place = phi__ops_place(thread->ops.table, thread->ops.cap, op->id_hash,
                                          phi_str_of(op->rewrite.op_id));
    place->hash = op->id_hash;
    place->op = op;
    thread->ops.count++;
}

/* An empty table for so many: the old one, where it is large enough. False: no memory, and nothing
   changed. */
static bool phi__ops_table(phi_thread *thread, size_t count) {
    size_t cap = phi__max(thread->ops.cap, 8);
    phi__op_place *table;
    while (cap / 2 < count && cap < SIZE_MAX / 2) cap *= 2;
    if (cap == thread->ops.cap || count == 0) {
        if (thread->ops.cap > 0) memset(thread->ops.table, 0, thread->ops.cap * sizeof *table);
    } else {
        table = (phi__op_place *)phi__alloc(thread->log.memory, phi__mul(cap, sizeof *table));
        if (table == NULL) return false;
        phi__free(thread->log.memory, thread->ops.table, thread->ops.cap * sizeof *table);
        thread->ops.table = table;
        thread->ops.cap = cap;
    }
    thread->ops.count = 0;
    return true;
}

/* Room for one more: a table of twice the places, into which the hashes go. False: no memory. */
static bool phi__ops_table_room(phi_thread *thread) {
    size_t cap = phi__max(phi__mul(thread->ops.cap, 2), 8), i, at;
    phi__op_place *table;
    if ((thread->ops.count + 1) * 2 <= thread->ops.cap) return true;
    table = (phi__op_place *)phi__alloc(thread->log.memory, phi__mul(cap, sizeof *table));
    if (table == NULL) return false;
    for (i = 0; i < thread->ops.cap; i++) {
        if (thread->ops.table[i].op == NULL) continue;
        at = (size_t)thread->ops.table[i].hash & (cap - 1);
        while (table[at].op != NULL) at = (at + 1) & (cap - 1);
        table[at] = thread->ops.table[i];
    }
    phi__free(thread->log.memory, thread->ops.table, thread->ops.cap * sizeof *table);
    thread->ops.table = table;
    thread->ops.cap = cap;
    return true;
}

PHI__FN bool phi__thread_index_ops(phi_thread *thread) {
    size_t n = 0, i;
    for (i = 0; i < thread->log.held; i++) n += thread->log.entries[i]->kind == PHI_ENTRY_REWRITE;
    if (!phi__ops_table(thread, n)) return false;
    thread->ops.last = NULL;
    for (i = 0; i < thread->log.held; i++) {
        phi__op *op = thread->log.entries[i]->of.op;
        if (thread->log.entries[i]->kind != PHI_ENTRY_REWRITE) continue;
        op->earlier = thread->ops.last;
        thread->ops.last = op;
        phi__ops_index(thread, op);
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
    if (thread->log.limit_bytes != 0 && thread->lanes.at == NULL &&
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
PHI__FN bool phi__thread_roll_back_ops(phi_thread *thread, uint32_t lane, uint64_t from,
                                       uint64_t to) {
    phi__op *op;
    bool any = false;
    for (op = thread->ops.last; op != NULL && op->seq > from; op = op->earlier) {
        if (op->seq > to || op->lane != lane || op->rewrite.revoke != NULL || op->revoked) continue;
        op->revoked = any = true;
        op->revoked_at = to;
    }
    return any;
}

PHI__FN void phi__thread_unmark_ops(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to) {
    size_t i, n = 0;
    for (i = 0; i < thread->ops.compaction_count; i++) {
        const phi__compaction_mark *mark = &thread->ops.compactions[i];
        if (mark->lane != lane || mark->seq < from || mark->seq > to)
            thread->ops.compactions[n++] = *mark;
    }
    thread->ops.compaction_count = n;
}

PHI__FN bool phi__ops_room(phi_thread *thread, const phi__op *op) {
    return phi__ops_table_room(thread) && (!phi__ops_compacts(op) || phi__ops_mark_room(thread));
}

PHI__FN void phi__ops_add(phi_thread *thread, phi__op *op) {
    if (op->rewrite.span_count > 0 || op->rewrite.revoke != NULL) thread->ops.last_seq = op->seq;
    op->earlier = thread->ops.last;
    thread->ops.last = op;
    op->id_hash = phi__hash(phi_str_of(op->rewrite.op_id), 0);
    phi__ops_index(thread, op);
    if (phi__ops_compacts(op)) phi__ops_mark(thread, op);
}
