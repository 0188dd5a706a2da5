/* log.c - entries by seq. */
#include "log/log_in.h"

PHI__FN void phi__log_init(phi__log *log, phi_memory *memory, phi__io *io) {
    memset(log, 0, sizeof *log);
    log->memory = memory;
    log->io = io;
    phi__segments_init(log);
}

PHI__FN void phi__log_set_io(phi__log *log, phi__io *io) { log->io = io; }

PHI__FN void phi__log_set_grown(phi__log *log, phi__grown *grown) { log->grown = grown; }

PHI__FN void phi__log_set_dirty(phi__log *log, phi__dirty *dirty) { log->dirty = dirty; }

PHI__FN void phi__log_free_all(phi__log *log) {
    phi__free(log->memory, log->entries, log->cap * sizeof *log->entries);
    phi__segments_free_all(log);
}

PHI__FN int64_t phi__log_now(const phi__log *log) {
    return log->io != NULL ? phi__io_wall_ms(log->io) : 0;
}

PHI__FN phi__entry *phi__log_at(const phi__log *log, uint64_t seq) {
    size_t from = 0, to = log->held;
    if (seq >= log->count || seq < log->base) return NULL;
    if (phi__log_whole(log)) return log->entries[seq - log->base];
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (log->entries[middle]->seq < seq)
            from = middle + 1;
        else
            to = middle;
    }
    return from < log->held && log->entries[from]->seq == seq ? log->entries[from] : NULL;
}

PHI__FN bool phi__log_reserve(phi__log *log, size_t n) {
    void *grown = phi__grow(log->memory, log->entries, &log->cap, phi__add(log->held, n),
                            sizeof *log->entries);
    if (grown != NULL) log->entries = (phi__entry **)grown;
    return grown != NULL;
}

PHI__FN void phi__log_set_time(phi__log *log, phi__entry *entry, int64_t at_ms) {
    entry->at_ms = at_ms;
    if (log->made_ms == 0) log->made_ms = at_ms;
    log->changed_ms = at_ms;
}

PHI__FN void phi__log_add(phi__log *log, phi__entry *entry) {
    entry->seq = log->count++;
    entry->segment = log->segments.current;
    log->entries[log->held++] = entry;
    phi__log_set_time(log, entry, entry->at_ms);
}

PHI__FN void phi__log_set_made(phi__log *log, int64_t made_ms) { log->made_ms = made_ms; }

PHI__FN void phi__log_begin_at(phi__log *log, uint64_t seq) {
    log->base = log->count = (size_t)seq;
}

PHI__FN void phi__log_grew(phi__log *log) {
    if (log->dirty != NULL) phi__dirty_add(log->grown, log->dirty, PHI__DIRTY_GREW);
}

PHI__FN void phi__log_left(phi__log *log) {
    log->left = true;
    if (log->dirty != NULL) phi__dirty_add(log->grown, log->dirty, PHI__DIRTY_LEAVES);
}

/* ---- eviction ---- */

PHI__FN void phi__log_exchange(phi__log *log, phi__entry_list *list) {
    phi__entry_list before;
    before.at = log->entries;
    before.held = log->held;
    before.cap = log->cap;
    log->entries = list->at;
    log->held = list->held;
    log->cap = list->cap;
    *list = before;
}

PHI__FN size_t phi__log_keep_live(phi__entry **entries, size_t count) {
    size_t i, n = 0;
    for (i = 0; i < count; i++)
        if (entries[i]->segment->live) entries[n++] = entries[i];
    return n;
}

/* Gives back room that is not likely to be needed again. */
PHI__FN phi__entry **phi__log_shrink_list(phi_memory *memory, phi__entry **entries, size_t count,
                                          size_t *cap) {
    size_t fewer = phi__max(count * 2, 16);
    void *smaller;
    if (*cap / 2 < fewer) return entries;
    smaller = phi__realloc(memory, entries, *cap * sizeof *entries, fewer * sizeof *entries);
    if (smaller == NULL) return entries;
    *cap = fewer;
    return (phi__entry **)smaller;
}

PHI__FN void phi__log_evict(phi__log *log) {
    log->left = false;
    log->held = phi__log_keep_live(log->entries, log->held);
}

PHI__FN void phi__log_shrink(phi__log *log) {
    log->entries = phi__log_shrink_list(log->memory, log->entries, log->held, &log->cap);
}
