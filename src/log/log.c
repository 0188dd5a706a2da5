/* log.c - entries by seq. */
#include "log/log_in.h"

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
    entry->segment = log->current;
    log->entries[log->held++] = entry;
    phi__log_set_time(log, entry, entry->at_ms);
}

PHI__FN void phi__log_grew(phi__log *log) {
    if (log->dirty != NULL) phi__dirty_add(log->grown, log->dirty, PHI__DIRTY_GREW);
}

PHI__FN void phi__log_left(phi__log *log) {
    log->left = true;
    if (log->dirty != NULL) phi__dirty_add(log->grown, log->dirty, PHI__DIRTY_LEAVES);
}
