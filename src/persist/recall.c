/* recall.c - reads evicted entries back from the store, all at once. Entries in memory do not
   move. */
#include "persist/recall_in.h"

#include "persist/entry_in.h"
#include "persist/journal_in.h"

typedef struct phi__recalling {
    phi__entry_reader reader;
    uint64_t end;
} phi__recalling;

static phi_status phi__recall_each(void *ctx, uint64_t seq, phi_str entry) {
    phi__recalling *recalling = (phi__recalling *)ctx;
    return seq < recalling->end ? phi__entry_read(&recalling->reader, entry) : PHI_OK;
}

/* Whether the entries in memory are the same in the store: else another log has replaced it
   there. */
static bool phi__recall_fits(const phi_thread *thread, const phi_thread *whole) {
    size_t i;
    for (i = 0; i < thread->log.held && thread->log.entries[i]->seq < whole->log.count; i++) {
        const phi__entry *ours = thread->log.entries[i];
        const phi__entry *theirs = whole->log.entries[ours->seq - whole->log.base];
        if (ours->kind != theirs->kind || ours->at_ms != theirs->at_ms ||
            (ours->ordinal != theirs->ordinal && (ours->flags & PHI_ENTRY_GRAFTED) == 0))
            return false;
    }
    return true;
}

/* The log as the store has it. */
static phi_status phi__recall_read(const phi_thread *thread, phi_thread *whole) {
    const phi__journal *journal = thread->journal;
    phi__recalling recalling;
    phi_status status;
    phi__thread_init(whole, thread->log.memory, thread->log.io);
    /* a segment that can be handed over */
    if (!phi__segments_open(&whole->log)) return PHI_NO_MEMORY;
    recalling.end = journal->stored - thread->log.base;
    status = phi__load_begin(whole);
    if (status != PHI_OK) return status;
    phi__entry_get_reader_init(&recalling.reader, whole);
    status = journal->store.read(journal->store.user_data, journal->id, 0, phi__recall_each,
                                 &recalling, NULL, NULL, 0);
    phi__entry_get_reader_free(&recalling.reader);
    if (status == PHI_OK) status = phi__load_end(whole);
    if (status == PHI_OK &&
        (whole->log.count != journal->stored || whole->log.base != thread->log.base ||
         !phi__recall_fits(thread, whole)))
        status = PHI_PARSE;
    return status;
}

/* Entries in memory stay as they are; evicted ones come from the other. */
static phi__entry **phi__recall_merge(const phi_thread *thread, const phi_thread *whole) {
    size_t n = thread->log.count - thread->log.base, at = 0, i;
    phi__entry **list = (phi__entry **)phi__alloc(thread->log.memory, phi__mul(n, sizeof *list));
    for (i = 0; list != NULL && i < n; i++)
        list[i] = at < thread->log.held && thread->log.entries[at]->seq == thread->log.base + i
                      ? thread->log.entries[at++]
                      : whole->log.entries[i];
    return list;
}

static bool phi__recall_take(phi_thread *thread, phi_thread *whole) {
    phi__entry_list list;
    bool done;
    list.at = phi__recall_merge(thread, whole);
    list.held = list.cap = thread->log.count - thread->log.base;
    if (list.at == NULL) return false;
    phi__log_exchange(&thread->log, &list);
    done = phi__ops_index_all(thread) && phi__lane_messages(thread, thread->lanes.active);
    if (!done) {
        phi__log_exchange(&thread->log, &list);
        (void)phi__ops_index_all(thread);
    }
    phi__free(thread->log.memory, list.at, list.cap * sizeof *list.at);
    if (!done) return false;
    phi__ops_recalled(thread);
    phi__runs_roll_back_again(thread);
    phi__segments_take(&thread->log, &whole->log);
    return true;
}

PHI__FN phi_status phi__recall_all(phi_thread *thread) {
    phi_thread whole;
    phi_status status = phi__recall_read(thread, &whole);
    if (status == PHI_OK && !phi__recall_take(thread, &whole)) status = PHI_NO_MEMORY;
    phi__thread_destroy(&whole);
    return status;
}

PHI__FN phi_status phi__recall(const phi_thread *thread) {
    if (phi__thread_whole(thread)) return PHI_OK;
    return thread->journal->store.journal->recall((phi_thread *)(uintptr_t)thread);
}

PHI__FN phi_status phi__recall_view(const phi_thread *thread, uint32_t lane, uint64_t upto) {
    bool kept =
        lane == thread->lanes.active && (upto == UINT64_MAX || upto + 1 >= thread->log.count);
    return kept ? PHI_OK : phi__recall(thread);
}

PHI__FN phi_status phi__recall_end(const phi_thread *thread, const phi__entry *end) {
    return phi__runs_end_folds(thread, end) ? phi__recall(thread) : PHI_OK;
}

PHI__FN const phi_message *phi__recall_message(const phi_thread *thread, size_t i,
                                               phi_status *status) {
    *status = PHI_OK;
    if (i >= thread->messages.count) return NULL;
    if (phi__lane_message(thread, i) == NULL) *status = phi__recall(thread);
    return *status == PHI_OK ? phi__lane_message(thread, i)->message : NULL;
}

PHI__FN phi_status phi__recall_has_loop(const phi_thread *thread, phi_str loop_id, bool *had) {
    phi_status status = PHI_OK;
    size_t i;
    *had = phi__loops_has(thread, loop_id);
    if (*had || !thread->loops.away) return PHI_OK;
    status = phi__recall(thread);
    for (i = 0; status == PHI_OK && !*had && i < thread->log.held; i++)
        *had = thread->log.entries[i]->kind == PHI_ENTRY_LOOP_START &&
               phi_str_equal(thread->log.entries[i]->loop_id, loop_id);
    return status;
}
