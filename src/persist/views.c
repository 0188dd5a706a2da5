/* views.c - entries, views and forks of a thread for the host. */
#include "persist/recall_in.h"

#include "model/tokens.h"

/* ---- entries ---- */

static void phi__views_lane(const phi_thread *thread, const phi__entry *entry, phi_entry *out) {
    const phi__lane *lane = thread->lanes.at != NULL ? &thread->lanes.at[entry->lane] : NULL;
    if (entry->kind != PHI_ENTRY_LANE || lane == NULL || lane->parent == PHI__LANE_NONE) return;
    out->parent_lane = phi__lane_name(thread, lane->parent);
    out->fork_seq = lane->fork_seq;
}

static void phi__views_detail(const phi__entry *entry, phi_entry *out) {
    if (entry->kind == PHI_ENTRY_LOOP_START) out->loop = entry->of.loop;
    if (entry->kind == PHI_ENTRY_LOOP_END) out->failure = entry->of.failure;
    if (entry->kind == PHI_ENTRY_REWRITE) out->rewrite = &entry->of.op->rewrite;
    if (entry->kind == PHI_ENTRY_SPAWN) {
        const phi__child_run *spawn = entry->of.spawn;
        out->tool_call_id = spawn->tool_call_id;
        out->child_session_id = spawn->session_id;
        out->child_loop_id = spawn->loop_id;
    }
    if (entry->kind == PHI_ENTRY_FORGOTTEN) out->forgotten = entry->of.forgotten;
    if (entry->kind == PHI_ENTRY_NOTE) {
        out->note_kind = entry->of.note->kind;
        out->note = entry->of.note->json;
    }
}

PHI__FN void phi__views_entry(const phi_thread *thread, const phi__entry *entry, phi_entry *out) {
    memset(out, 0, sizeof *out);
    out->seq = entry->seq;
    out->at_ms = entry->at_ms;
    out->kind = entry->kind;
    out->flags = entry->flags;
    out->lane =
        phi__lane_name(thread, entry->kind == PHI_ENTRY_REWRITE ? entry->of.op->lane : entry->lane);
    out->loop_id = entry->loop_id;
    out->turn_index = entry->turn_index;
    out->message = entry->message;
    out->trigger = entry->trigger;
    out->status = entry->status;
    out->keep = entry->keep;
    out->usage = entry->usage;
    phi__views_lane(thread, entry, out);
    phi__views_detail(entry, out);
}

PHI_API uint64_t phi_thread_count(const phi_thread *thread) {
    return thread != NULL ? (thread)->log.count : 0;
}

PHI_API phi_status phi_thread_entry(const phi_thread *thread, uint64_t seq, phi_entry *out) {
    phi_status status = PHI_OK;
    if (thread == NULL || out == NULL) return PHI_BAD_ARG;
    if (seq >= thread->log.count || seq < thread->log.base) return PHI_NOT_FOUND;
    if (phi__thread_at(thread, seq) == NULL) status = phi__recall(thread);
    if (status == PHI_OK) phi__views_entry(thread, phi__thread_at(thread, seq), out);
    return status;
}

/* ---- views ---- */

static bool phi__views_items(const phi__fold *fold, phi_arena *arena, const phi_view_item **out,
                             size_t *count) {
    phi_view_item *items =
        (phi_view_item *)phi_arena_alloc(arena, phi__mul(phi__max(fold->count, 1), sizeof *items));
    size_t i;
    if (items == NULL) return false;
    for (i = 0; i < fold->count; i++) {
        items[i].message = fold->items[i].message;
        items[i].from = fold->items[i].from;
        items[i].to = fold->items[i].to;
        items[i].flags = fold->items[i].flags;
        items[i].tokens = phi_tokens_of_message(NULL, items[i].message);
    }
    *out = items;
    *count = fold->count;
    return true;
}

PHI_API phi_status phi_thread_view(const phi_thread *thread, const char *lane, uint64_t upto,
                                   phi_arena *arena, const phi_view_item **out, size_t *count) {
    phi__fold made;
    const phi__fold *fold;
    phi_status status;
    uint32_t at;
    bool done;
    if (thread == NULL || arena == NULL || out == NULL || count == NULL) return PHI_BAD_ARG;
    at = lane != NULL ? phi__lane_find(thread, phi_str_of(lane)) : thread->lanes.active;
    if (at == PHI__LANE_NONE) return PHI_NOT_FOUND;
    status = phi__recall_view(thread, at, upto);
    if (status == PHI_OK) status = phi__fold_at(thread, at, upto, &made, &fold);
    if (status != PHI_OK) return status;
    done = phi__views_items(fold, arena, out, count);
    phi__fold_free(thread->log.memory, &made);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

PHI_API phi_status phi_thread_tool_state(const phi_thread *thread, const char *lane, uint64_t seq,
                                         phi_arena *arena, phi_str *out) {
    phi_status status;
    uint32_t at;
    if (thread == NULL || out == NULL) return PHI_BAD_ARG;
    if (arena == NULL)
        return lane != NULL || seq != UINT64_MAX
                   ? PHI_BAD_ARG
                   : phi__tool_state_now((phi_thread *)(uintptr_t)thread, out);
    at = lane != NULL ? phi__lane_find(thread, phi_str_of(lane)) : thread->lanes.active;
    if (at == PHI__LANE_NONE || seq < thread->log.base) return PHI_NOT_FOUND;
    status = phi__recall(thread);
    return status == PHI_OK ? phi__tool_state_fold(thread, at, seq, arena, out) : status;
}

PHI_API const char *phi_thread_lane_at(const phi_thread *thread, size_t i) {
    return thread != NULL && i < phi__thread_lanes(thread) ? phi__lane_name(thread, (uint32_t)i).at
                                                           : NULL;
}
