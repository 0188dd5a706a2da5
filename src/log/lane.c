/* lane.c - lanes: a history's branches. A lane is its parent's view at one entry, and its own
   entries.

   There is one from the beginning, the default one; the table is made when a second one begins. */
#include "log/thread_in.h"

/* ---- the runs of a log, by id: where each began; and the state of the active one ---- */

/* ---- ends a run, and rolls back a run that keeps nothing ---- */

/* Such a run is one unit: its messages leave the view, and so do its rewrites, as if each had been
   revoked when it ended. The lane's view is then as before the run. A run keeps a copy of that view
   from its first rewrite on, so that its end needs no memory; if there is no copy, as in a log that
   is read, the lane is folded again. */

/* ---- the view before ---- */

/* ---- rolling back ---- */

/* ---- lanes: a history's branches ---- */

/* A lane is its parent's view at one entry, and its own entries. */

PHI__FN phi_str phi__lane_name(const phi_thread *thread, uint32_t lane) {
    if (thread->lanes.at == NULL) return lane == 0 ? PHI__LIT(PHI_LANE_DEFAULT) : phi__str("", 0);
    return lane < thread->lanes.count ? thread->lanes.at[lane].name : phi__str("", 0);
}

enum { PHI__LANE_FEW = 8 }; /* up to so many are looked through */

/* The place of a lane in the table (its number + 1), or the free place for it. */
static uint32_t *phi__lane_place(const phi_thread *thread, uint32_t *table, size_t cap,
                                 phi_str name) {
    size_t at = (size_t)phi__hash(name, 0) & (cap - 1);
    while (table[at] != 0 && !phi_str_equal(phi__lane_name(thread, table[at] - 1), name))
        at = (at + 1) & (cap - 1);
    return &table[at];
}

/* Room in the table for one more lane. False: no memory. */
static bool phi__lane_index_room(phi_thread *thread) {
    size_t cap = phi__max(thread->lanes.table_cap * 2, 4 * PHI__LANE_FEW);
    if (thread->lanes.count < PHI__LANE_FEW || thread->lanes.count < thread->lanes.table_cap / 2)
        return true;
    uint32_t *table = (uint32_t *)phi__alloc(thread->log.memory, phi__mul(cap, sizeof *table));
    if (table == NULL) return false;
    for (uint32_t i = 0; i < thread->lanes.count; i++)
        *phi__lane_place(thread, table, cap, thread->lanes.at[i].name) = i + 1;
    phi__free(thread->log.memory, thread->lanes.table, thread->lanes.table_cap * sizeof *table);
    thread->lanes.table = table;
    thread->lanes.table_cap = cap;
    return true;
}

PHI__FN uint32_t phi__lane_find(const phi_thread *thread, phi_str name) {
    uint32_t i;
    if (phi_str_equal(phi__lane_name(thread, thread->lanes.active), name))
        return thread->lanes.active;
    if (thread->lanes.table != NULL) {
        i = *phi__lane_place(thread, thread->lanes.table, thread->lanes.table_cap, name);
        return i != 0 ? i - 1 : (uint32_t)PHI__LANE_NONE;
    }
    for (i = 0; i < phi__thread_lanes(thread); i++)
        if (phi_str_equal(phi__lane_name(thread, i), name)) return i;
    return PHI__LANE_NONE;
}

static bool phi__lane_table(phi_thread *thread) {
    size_t cap = thread->lanes.cap;
    phi__lane *lanes =
        (phi__lane *)phi__grow(thread->log.memory, thread->lanes.at, &cap,
                               phi__add(phi__thread_lanes(thread), 1), sizeof *lanes);
    if (lanes == NULL || cap > PHI__LANE_NONE) return false;
    if (thread->lanes.at == NULL) {
        memset(&lanes[0], 0, sizeof lanes[0]);
        lanes[0].name = PHI__LIT(PHI_LANE_DEFAULT);
        lanes[0].parent = PHI__LANE_NONE;
        thread->lanes.count = 1;
    }
    thread->lanes.at = lanes;
    thread->lanes.cap = (uint32_t)cap;
    return true;
}

PHI__FN phi__entry *phi__lane_entries(phi_thread *thread, size_t n) {
    if (!phi__append_reserve(thread, n, 0)) return NULL;
    phi__entry *entries =
        (phi__entry *)phi__arena_zero(phi__thread_room(thread), n * sizeof *entries);
    for (size_t i = 0; entries != NULL && i < n; i++) entries[i].at_ms = phi__thread_now(thread);
    return entries;
}

PHI__FN void phi__lane_append(phi_thread *thread, phi__entry *entry, phi_entry_kind kind,
                              uint32_t lane) {
    entry->kind = kind;
    phi__append_attach(thread, entry, 1);
    entry->lane = lane;
}

/* The new lane's entry, and room for `more` after it; NULL: no memory, and nothing changed. */
static phi__entry *phi__lane_begin(phi_thread *thread, phi_str name, uint32_t parent,
                                   uint64_t fork_seq, size_t more) {
    char *copy = (char *)phi__alloc(thread->log.memory, phi__add(name.len, 1));
    phi__entry *entries = NULL;
    if (copy != NULL && phi__lane_table(thread) && phi__lane_index_room(thread))
        entries = phi__lane_entries(thread, 1 + more);
    if (entries == NULL) {
        phi__free(thread->log.memory, copy, copy != NULL ? name.len + 1 : 0);
        return NULL;
    }
    memcpy(copy, name.at, name.len);
    phi__lane *made = &thread->lanes.at[thread->lanes.count];
    made->name = phi__str(copy, name.len);
    made->parent = parent;
    made->fork_seq = fork_seq;
    made->seq = thread->log.count;
    if (thread->lanes.table != NULL)
        *phi__lane_place(thread, thread->lanes.table, thread->lanes.table_cap, made->name) =
            thread->lanes.count + 1;
    phi__lane_append(thread, entries, PHI_ENTRY_LANE, thread->lanes.count++);
    return entries;
}

PHI__FN phi_status phi__lane_new(phi_thread *thread, phi_str name, uint32_t parent,
                                 uint64_t fork_seq, uint32_t *lane) {
    *lane = (uint32_t)phi__thread_lanes(thread);
    return phi__lane_begin(thread, name, parent, fork_seq, 0) != NULL ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN phi__entry *phi__lane_message(const phi_thread *thread, size_t i) {
    size_t from = 0, to = thread->messages.held;
    if (i >= thread->messages.count) return NULL;
    if (thread->messages.held == thread->messages.count) return thread->messages.at[i];
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (thread->messages.at[middle]->ordinal < i)
            from = middle + 1;
        else
            to = middle;
    }
    return from < thread->messages.held && thread->messages.at[from]->ordinal == i
               ? thread->messages.at[from]
               : NULL;
}

PHI__FN bool phi__lane_messages(phi_thread *thread, uint32_t lane) {
    phi__limit *limits = phi__fold_limits(thread, lane, UINT64_MAX);
    size_t lanes = phi__thread_lanes(thread), n = 0, i;
    phi__entry **list = NULL;
    for (size_t pass = 0; limits != NULL && pass < 2; pass++) {
        if (pass == 1)
            list = (phi__entry **)phi__alloc(thread->log.memory,
                                             phi__mul(phi__max(n, 1), sizeof *list));
        if (pass == 1 && list == NULL) break;
        for (i = n = 0; i < thread->log.held; i++) {
            phi__entry *entry = thread->log.entries[i];
            if (entry->kind != PHI_ENTRY_MESSAGE || !limits[entry->lane].any ||
                entry->seq > limits[entry->lane].seq)
                continue;
            if (list != NULL) { /* a grafted entry has no place yet */
                list[n] = entry;
                entry->ordinal = n;
            }
            n++;
        }
    }
    phi__free(thread->log.memory, limits, limits != NULL ? lanes * sizeof *limits : 0);
    if (list == NULL) return false;
    phi__messages_replace(thread->log.memory, &thread->messages, list, n, phi__max(n, 1));
    return true;
}

PHI__FN void phi__lane_activate(phi_thread *thread, uint32_t lane) { thread->lanes.active = lane; }

PHI__FN void phi__lane_enter(phi_thread *thread, uint32_t lane, phi__fold *fold) {
    phi__lane_activate(thread, lane);
    phi__state_unknown(thread);
    if (fold != NULL) {
        phi__fold_move(thread->log.memory, &thread->fold, fold);
        return;
    }
    phi__fold_clear(&thread->fold);
    phi__messages_clear(&thread->messages);
}

PHI__FN phi_status phi__lane_switch(phi_thread *thread, uint32_t lane) {
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    phi__fold fold;
    if (lane == thread->lanes.active) return PHI_OK;
    phi_status status = phi__fold_lane(thread, lane, UINT64_MAX, &fold);
    if (status != PHI_OK) return status;
    phi__entry *entry = phi__lane_entries(thread, 1);
    if (entry == NULL || !phi__lane_messages(thread, lane)) {
        phi__fold_free(thread->log.memory, &fold);
        phi_arena_reset(room, mark);
        return PHI_NO_MEMORY;
    }
    phi__lane_enter(thread, lane, &fold);
    phi__lane_append(thread, entry, PHI_ENTRY_SWITCH, lane);
    phi__thread_evictable(thread);
    return PHI_OK;
}

PHI__FN phi_status phi__lane_switch_new(phi_thread *thread, phi_str name) {
    phi__entry *entries = phi__lane_begin(thread, name, PHI__LANE_NONE, 0, 1);
    if (entries == NULL) return PHI_NO_MEMORY;
    phi__lane_enter(thread, thread->lanes.count - 1, NULL);
    phi__lane_append(thread, &entries[1], PHI_ENTRY_SWITCH, thread->lanes.active);
    phi__thread_evictable(thread);
    return PHI_OK;
}

PHI__FN void phi__lane_free_all(phi_thread *thread) {
    phi_memory *memory = thread->log.memory;
    phi__lanes *lanes = &thread->lanes;
    for (uint32_t i = 1; i < lanes->count; i++) /* the first one's name is static */
        phi__free(memory, (void *)(uintptr_t)lanes->at[i].name.at, lanes->at[i].name.len + 1);
    phi__free(memory, lanes->table, lanes->table_cap * sizeof *lanes->table);
    phi__free(memory, lanes->at, lanes->cap * sizeof *lanes->at);
}

/* ---- where a fork may be ---- */

/* *open is the last answer of a fold, if one of its calls has no result there; else SIZE_MAX.
   False: no memory. */
static bool phi__lane_open_group(phi_memory *memory, const phi__fold *fold, size_t *open) {
    size_t at = fold->count;
    phi__ids results;
    *open = SIZE_MAX;
    while (at > 0 && fold->items[at - 1].message->role != PHI_ROLE_ASSISTANT) at--;
    if (at == 0) return true;
    const phi_message *answer = fold->items[at - 1].message;
    if (!phi__groups_ids_make(memory, &results, fold->count - at)) return false;
    for (size_t i = at; i < fold->count; i++)
        if (fold->items[i].message->role == PHI_ROLE_TOOL_RESULT)
            phi__groups_ids_put(&results, fold->items[i].message->tool_call_id, i);
    for (size_t i = 0; i < answer->content_count; i++) {
        const phi_content *c = &answer->content[i];
        if (c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete &&
            phi__groups_ids_get(&results, c->id) == SIZE_MAX)
            *open = at - 1;
    }
    phi__groups_ids_free(memory, &results);
    return true;
}

PHI__FN phi_status phi__lane_cut(const phi_thread *thread, uint32_t lane, uint64_t at,
                                 uint64_t *out, bool *any) {
    phi__fold made;
    const phi__fold *fold;
    phi_status status = phi__fold_at(thread, lane, at, &made, &fold);
    size_t open;
    if (status != PHI_OK) return status;
    if (!phi__lane_open_group(thread->log.memory, fold, &open)) {
        phi__fold_free(thread->log.memory, &made);
        return PHI_NO_MEMORY;
    }
    *out = at < thread->log.count ? at : (uint64_t)thread->log.count - 1;
    *any = thread->log.count > 0 && fold->count > 0;
    if (open != SIZE_MAX) {
        *any = open > 0 && fold->items[open].from > 0;
        *out = fold->items[open].from > 0 ? fold->items[open].from - 1 : UINT64_MAX;
    }
    phi__fold_free(thread->log.memory, &made);
    return PHI_OK;
}
