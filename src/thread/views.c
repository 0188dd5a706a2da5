/* views.c - the thread as a host reads it: entries, views, forks. */
#include "thread/thread_in.h"

#include "model/tokens.h"
#include "text/json.h"

#include <stdio.h>

/* ---- entries ---- */

static void phi__view_lane(const phi_thread *thread, const phi__entry *entry, phi_entry *out) {
    const phi__lane *lane = thread->lanes.at != NULL ? &thread->lanes.at[entry->lane] : NULL;
    if (entry->kind != PHI_ENTRY_LANE || lane == NULL || lane->parent == PHI__LANE_NONE) return;
    out->parent_lane = phi__thread_lane_name(thread, lane->parent);
    out->fork_seq = lane->fork_seq;
}

static void phi__view_detail(const phi__entry *entry, phi_entry *out) {
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

PHI__FN void phi__thread_show(const phi_thread *thread, const phi__entry *entry, phi_entry *out) {
    memset(out, 0, sizeof *out);
    out->seq = entry->seq;
    out->at_ms = entry->at_ms;
    out->kind = entry->kind;
    out->flags = entry->flags;
    out->lane = phi__thread_lane_name(thread, entry->kind == PHI_ENTRY_REWRITE ? entry->of.op->lane
                                                                               : entry->lane);
    out->loop_id = entry->loop_id;
    out->turn_index = entry->turn_index;
    out->message = entry->message;
    out->trigger = entry->trigger;
    out->status = entry->status;
    out->keep = entry->keep;
    out->usage = entry->usage;
    phi__view_lane(thread, entry, out);
    phi__view_detail(entry, out);
}

PHI_API uint64_t phi_thread_count(const phi_thread *thread) {
    return thread != NULL ? (thread)->log.count : 0;
}

PHI_API uint64_t phi_thread_first(const phi_thread *thread) {
    return thread != NULL ? (thread)->log.base : 0;
}

PHI_API phi_status phi_thread_entry(const phi_thread *thread, uint64_t seq, phi_entry *out) {
    phi_status status = PHI_OK;
    if (thread == NULL || out == NULL) return PHI_BAD_ARG;
    if (seq >= thread->log.count || seq < thread->log.base) return PHI_NOT_FOUND;
    if (phi__thread_at(thread, seq) == NULL) status = phi__thread_recall(thread);
    if (status == PHI_OK) phi__thread_show(thread, phi__thread_at(thread, seq), out);
    return status;
}

/* Whether all of these are in memory. */
static bool phi__view_holds(const phi_thread *log, uint64_t from, uint64_t to) {
    if (phi__thread_whole(log)) return true;
    while (from < to && phi__thread_at(log, from) != NULL) from++;
    return from == to;
}

PHI_API phi_status phi_thread_slice(const phi_thread *thread, uint64_t from, uint64_t to,
                                    phi_arena *arena, const phi_entry **out, size_t *count) {
    phi_status status = PHI_OK;
    phi_entry *list;
    size_t i, n;
    if (thread == NULL || arena == NULL || out == NULL || count == NULL || from > to)
        return PHI_BAD_ARG;
    if (to > thread->log.count) to = thread->log.count;
    if (from > to) from = to;
    if (from < to && from < thread->log.base) return PHI_NOT_FOUND;
    n = (size_t)(to - from);
    list = (phi_entry *)phi_arena_alloc(arena, phi__mul(phi__max(n, 1), sizeof *list));
    if (list == NULL) return PHI_NO_MEMORY;
    if (!phi__view_holds(thread, from, to)) status = phi__thread_recall(thread);
    if (status != PHI_OK) return status;
    for (i = 0; i < n; i++) phi__thread_show(thread, phi__thread_at(thread, from + i), &list[i]);
    *out = list;
    *count = n;
    return PHI_OK;
}

static bool phi__view_is_json(const phi_thread *log, phi_str json, phi_status *status) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_arena_init(&scratch, log->log.memory, 0);
    *status = phi_json_parse(&scratch, json, PHI_JSON_BORROW, &root, NULL);
    phi_arena_free(&scratch);
    return *status == PHI_OK;
}

static phi_status phi__view_check(const phi_thread *log, const phi_message *messages,
                                  size_t count) {
    size_t i, block;
    if (messages == NULL || count == 0) return PHI_BAD_ARG;
    for (i = 0; i < count; i++) {
        const phi_message *m = &messages[i];
        phi_status status;
        if (phi__message_fault(m, &block) != NULL) return PHI_BAD_ARG;
        if (m->role != PHI_ROLE_EXTENSION || m->extension_data.len == 0) continue;
        if (!phi__view_is_json(log, m->extension_data, &status))
            return status == PHI_NO_MEMORY ? status : PHI_BAD_ARG;
    }
    return PHI_OK;
}

static bool phi__view_append(phi_thread *log, const phi_message *messages, size_t count,
                             uint32_t flags) {
    phi_arena *room = phi__thread_room(log);
    phi__entry *entries = (phi__entry *)phi__arena_zero(room, phi__mul(count, sizeof *entries));
    size_t i;
    if (entries == NULL || !phi__thread_reserve(log, count, count)) return false;
    for (i = 0; i < count; i++) {
        entries[i].kind = PHI_ENTRY_MESSAGE;
        entries[i].flags = flags & PHI_ENTRY_DURABLE;
        entries[i].message = phi_message_copy(&messages[i], room);
        if (entries[i].message == NULL || !phi__thread_claim_calls(log, &messages[i])) return false;
        entries[i].at_ms = phi__thread_now(log);
        entries[i].loop_id = entries[i].message->loop_id;
        entries[i].turn_index = entries[i].message->turn_index;
    }
    phi__thread_attach(log, entries, count);
    return true;
}

/* Calls of a run that died get their results before the conversation goes on; a host's own results come first. */
static bool phi__view_settle(phi_thread *log, phi_role role) {
    size_t i = log->fold.count;
    while (i > 0 && log->fold.items[i - 1].message->role == PHI_ROLE_TOOL_RESULT) i--;
    if (i == 0 || log->fold.items[i - 1].message->loop_id.len == 0) return true;
    return (role != PHI_ROLE_USER && role != PHI_ROLE_ASSISTANT) || phi__thread_answer_orphans(log);
}

PHI_API phi_status phi_thread_append_messages(phi_thread *thread, const phi_message *messages,
                                              size_t count, uint32_t flags, uint64_t expected,
                                              uint64_t *seq) {
    phi_arena_mark mark;
    phi_arena *room;
    phi_status status;
    if (thread == NULL) return PHI_BAD_ARG;
    if (thread->user != NULL) return PHI_BUSY;
    if (expected != UINT64_MAX && expected != thread->log.count) return PHI_STALE;
    status = phi__view_check(thread, messages, count);
    if (status != PHI_OK) return status;
    if (!phi__thread_roll(thread, NULL) || !phi__view_settle(thread, messages[0].role))
        return PHI_NO_MEMORY;
    room = phi__thread_room(thread);
    mark = phi_arena_save(room);
    if (!phi__view_append(thread, messages, count, flags)) {
        phi_arena_reset(room, mark);
        return PHI_NO_MEMORY;
    }
    if (seq != NULL) *seq = thread->log.count - count;
    return PHI_OK;
}

PHI__FN phi_status phi__thread_note(phi_thread *log, const char *kind, phi_str json,
                                    uint64_t *seq) {
    phi_arena *room;
    phi_arena_mark mark;
    phi__entry *entry;
    phi__note *note;
    phi_status status;
    if (!phi__view_is_json(log, json, &status))
        return status == PHI_NO_MEMORY ? PHI_NO_MEMORY : PHI_BAD_ARG;
    if (log->user == NULL && !phi__thread_roll(log, NULL)) return PHI_NO_MEMORY;
    room = phi__thread_room(log);
    mark = phi_arena_save(room);
    entry = (phi__entry *)phi__arena_zero(room, sizeof *entry);
    note = (phi__note *)phi__arena_zero(room, sizeof *note);
    if (entry == NULL || note == NULL || !phi__arena_str(room, phi_str_of(kind), &note->kind) ||
        !phi__arena_str(room, json, &note->json) || !phi__thread_reserve(log, 1, 0)) {
        phi_arena_reset(room, mark);
        return PHI_NO_MEMORY;
    }
    entry->kind = PHI_ENTRY_NOTE;
    entry->at_ms = phi__thread_now(log);
    entry->of.note = note;
    if (seq != NULL) *seq = log->log.count;
    phi__thread_attach(log, entry, 1);
    return PHI_OK;
}

PHI_API phi_status phi_thread_note(phi_thread *thread, const char *kind, phi_str json,
                                   uint64_t *seq) {
    if (thread == NULL || kind == NULL || kind[0] == '\0') return PHI_BAD_ARG;
    if (phi__str_starts(phi_str_of(kind), "phi.")) return PHI_BAD_ARG;
    return phi__thread_note(thread, kind, json, seq);
}

PHI_API phi_usage phi_thread_usage(const phi_thread *thread) {
    phi_usage none;
    memset(&none, 0, sizeof none);
    return thread != NULL ? (thread)->usage : none;
}

/* ---- views ---- */

static bool phi__view_items(const phi__fold *fold, phi_arena *arena, const phi_view_item **out) {
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
    at = lane != NULL ? phi__thread_find_lane(thread, phi_str_of(lane)) : thread->lanes.active;
    if (at == PHI__LANE_NONE) return PHI_NOT_FOUND;
    status = phi__fold_at(thread, at, upto, &made, &fold);
    if (status != PHI_OK) return status;
    *count = fold->count;
    done = phi__view_items(fold, arena, out);
    phi__fold_free(thread->log.memory, &made);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

PHI_API phi_status phi_thread_fresh(phi_thread *thread) {
    char name[32];
    size_t n;
    if (thread == NULL) return PHI_BAD_ARG;
    for (n = phi__thread_lanes(thread);; n++) { /* a host may have taken the name */
        (void)snprintf(name, sizeof name, "lane-%llu", (unsigned long long)n);
        if (phi__thread_find_lane(thread, phi_str_of(name)) == PHI__LANE_NONE) break;
    }
    return phi_thread_switch(thread, name);
}
