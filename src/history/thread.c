/* thread.c - makes, empties and frees threads. */
#include "history/thread_in.h"

#include "history/about_in.h"
#include "history/load_in.h"

PHI__FN void phi__thread_init(phi_thread *thread, phi_memory *memory, phi__io *io) {
    memset(thread, 0, sizeof *thread);
    phi__segments_init(&thread->log, memory, io);
    phi__map_init(&thread->ops.by_id, memory);
}

PHI__FN void phi__thread_renew(phi_thread *thread) {
    phi_thread before = *thread;
    phi__thread_init(thread, before.log.memory, before.log.io);
    thread->of_agent = before.of_agent;
    thread->log.grown = before.log.grown;
    thread->rt = before.rt;
    thread->lent = before.lent;
    phi__segments_limit(&thread->log, before.log.limit_bytes);
}

static void phi__thread_free_lanes(phi_thread *thread) {
    phi_memory *memory = thread->log.memory;
    phi__lanes *lanes = &thread->lanes;
    uint32_t i;
    for (i = 1; i < lanes->count; i++) /* the first one's name is static */
        phi__free(memory, (void *)(uintptr_t)lanes->at[i].name.at, lanes->at[i].name.len + 1);
    phi__free(memory, lanes->table, lanes->table_cap * sizeof *lanes->table);
    phi__free(memory, lanes->at, lanes->cap * sizeof *lanes->at);
}

static void phi__thread_free_ops(phi_thread *thread) {
    phi__ops *ops = &thread->ops;
    phi__hashes_free(thread->log.memory, &ops->away);
    phi__map_free(&ops->by_id);
    phi__free(thread->log.memory, ops->compactions, ops->compaction_cap * sizeof *ops->compactions);
}

PHI__FN void phi__thread_destroy(phi_thread *thread) {
    phi_memory *memory = thread->log.memory;
    PHI_ASSERT(thread->journal == NULL);
#ifndef PHI_NO_REWRITES
    phi__load_drop(thread);
#endif
    phi__free(memory, thread->messages.at, thread->messages.cap * sizeof *thread->messages.at);
    phi__thread_free_lanes(thread);
    phi__hashes_free(memory, &thread->ids);
    phi__free(memory, thread->loops.at, thread->loops.cap * sizeof *thread->loops.at);
    phi__about_free(thread);
    phi__runs_drop_undo(thread);
    phi__thread_free_ops(thread);
    phi__fold_free(memory, &thread->fold);
    phi__segments_free_all(&thread->log);
    phi__thread_renew(thread);
}

PHI__FN size_t phi__thread_bytes(const phi_thread *thread) {
    return phi__segments_bytes(&thread->log) + phi__about_bytes(thread) +
           (thread->log.cap + thread->messages.cap) * sizeof *thread->log.entries +
           thread->fold.cap * sizeof *thread->fold.items + thread->ids.cap * sizeof(uint64_t) +
           thread->ops.by_id.cap * sizeof *thread->ops.by_id.slots +
           thread->loops.cap * sizeof *thread->loops.at +
           thread->undo.fold.cap * sizeof *thread->undo.fold.items;
}
