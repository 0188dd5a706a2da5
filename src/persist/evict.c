/* evict.c - evicts entries that no view has: whole segments, of a log in a store. */
#include "persist/recall_in.h"

#include "persist/journal_in.h"

PHI__FN bool phi__evict_all_begin(phi_thread *thread) {
    phi_str state;
    size_t i;
    if (phi__tool_state_now(thread, &state) != PHI_OK) return false; /* its notes may leave */
    phi__segments_unpin(&thread->log);
    if (thread->loops.started != NULL) phi__segments_pin(thread->loops.started->segment);
    for (i = 0; i < thread->fold.count; i++)
        phi__segments_pin(PHI__OWNER(thread->fold.items[i].arena, phi__segment, arena));
    for (i = 0; i < thread->undo.fold.count; i++)
        phi__segments_pin(PHI__OWNER(thread->undo.fold.items[i].arena, phi__segment, arena));
    return true;
}

PHI__FN void phi__evict_all_end(phi_thread *thread) {
    if (!phi__ops_evict(thread)) return; /* another time */
    phi__log_evict(&thread->log);
    phi__messages_evict(&thread->messages);
    (void)phi__ops_index_all(thread); /* of fewer it cannot fail */
    phi__loops_evict(thread);
    phi__append_shed_ids(thread);
    phi__log_shrink(&thread->log);
    phi__messages_shrink(thread->log.memory, &thread->messages);
    phi__segments_drop_dead(&thread->log);
}

PHI__FN bool phi__evict_begin(phi_thread *thread) {
    if (!thread->log.left || thread->journal == NULL || thread->journal->stored < thread->log.count)
        return false;
    return thread->journal->store.journal->evict_begin(thread);
}

PHI__FN void phi__evict_end(phi_thread *thread) {
    thread->journal->store.journal->evict_end(thread);
}
