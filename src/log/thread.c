/* thread.c - makes, empties and frees threads. */
#include "log/thread_in.h"

/* ---- notes: entries that no model sees ---- */

/* ---- A thread's id, title, metadata, and where it was forked from ---- */

/* A note of kind PHI_NOTE_THREAD holds title, metadata and origin; a later one takes its place. */

/* ---- keeping ---- */

/* ---- as JSON ---- */

/* ---- one thread from another ---- */

/* ---- the MESSAGE entries of a thread's active lane, in order ---- */

/* ---- threads ---- */

PHI__FN void phi__thread_init(phi_thread *thread, phi_memory *memory, phi__io *io) {
    memset(thread, 0, sizeof *thread);
    phi__log_init(&thread->log, memory, io);
    phi__ops_init(&thread->ops, memory);
}

PHI__FN void phi__thread_belong(phi_thread *thread, struct phi_runtime *rt, phi__grown *grown,
                                struct phi__lent *lent) {
    thread->rt = rt;
    thread->lent = lent;
    thread->of_agent = lent == NULL;
    phi__log_set_grown(&thread->log, grown);
}

PHI__FN void phi__thread_use(phi_thread *thread, void *run) { thread->user = run; }

/* Clears the struct without freeing its parts. */
static void phi__thread_renew(phi_thread *thread) {
    phi_thread before = *thread;
    phi__thread_init(thread, before.log.memory, before.log.io);
    thread->of_agent = before.of_agent;
    phi__log_set_grown(&thread->log, before.log.grown);
    thread->rt = before.rt;
    thread->lent = before.lent;
    phi__segments_limit(&thread->log, before.log.segments.limit_bytes);
}

PHI__FN void phi__thread_move(phi_thread *to, phi_thread *from) {
    memcpy(to, from, sizeof *to); /* with the parts that others own */
    phi__thread_renew(from);
}

PHI__FN void phi__thread_destroy(phi_thread *thread) {
    phi_memory *memory = thread->log.memory;
    PHI_ASSERT(thread->journal == NULL);
    phi__load_drop(thread);
    phi__messages_free(memory, &thread->messages);
    phi__lane_free_all(thread);
    phi__append_free(thread);
    phi__loops_free(&thread->loops, memory);
    phi__about_free(thread);
    phi__runs_drop_undo(thread);
    phi__state_free(thread);
    phi__ops_free(&thread->ops, memory);
    phi__fold_free(memory, &thread->fold);
    phi__log_free_all(&thread->log);
    phi__thread_renew(thread);
}

PHI__FN size_t phi__thread_bytes(const phi_thread *thread) {
    return phi__segments_bytes(&thread->log) + phi__about_bytes(thread) + phi__state_bytes(thread) +
           (thread->log.cap + thread->messages.cap) * sizeof *thread->log.entries +
           thread->fold.cap * sizeof *thread->fold.items +
           thread->counted.ids.cap * sizeof(uint64_t) +
           thread->ops.by_id.cap * sizeof *thread->ops.by_id.slots +
           thread->loops.cap * sizeof *thread->loops.at +
           thread->undo.fold.cap * sizeof *thread->undo.fold.items;
}
